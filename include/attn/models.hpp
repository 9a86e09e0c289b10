// SPDX-License-Identifier: Apache-2.0
// Whole models, read from a folder as the Hugging Face hub stores them.
#pragma once

#include <attn/models/bert.hpp>
#include <attn/models/bert_config.hpp>
#include <attn/models/embed.hpp>
#include <attn/models/sentence_settings.hpp>
#include <attn/models/token_batch.hpp>
