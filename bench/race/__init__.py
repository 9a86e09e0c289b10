# SPDX-License-Identifier: Apache-2.0
"""Races attn against its peers: script/bench runs it."""
