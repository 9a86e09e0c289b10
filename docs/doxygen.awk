# SPDX-License-Identifier: Apache-2.0
# Hands the headers' plain `//` comments to doxygen as its own: one on lines of its own documents what follows it, one
# behind a declaration documents that, together with the comment lines right below it.
# The inline namespace is for the linker; a reader finds its members in attn.
/^inline namespace ATTN_ABI/ || /^} +\/\/ namespace ATTN_ABI/ { print ""; next }
/SPDX-License-Identifier/ { print "//"; next }
/^ *\/\// {
  sub(/\/\//, behind ? "///<" : "///")
  print
  next
}
{
  # Quotes may hold two slashes; no declaration of a public header has such a string.
  behind = sub(/[^ ] +\/\/ /, "&\001")
  if (behind) { sub(/ +\/\/ \001/, " ///< ") }
  print
}
