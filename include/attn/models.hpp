// SPDX-License-Identifier: Apache-2.0
// Whole models: those read from a folder as the Hugging Face hub stores them, and those that are trained.
#pragma once

#include <attn/models/bert.hpp>
#include <attn/models/bert_config.hpp>
#include <attn/models/embed.hpp>
#include <attn/models/encoder_decoder.hpp>
#include <attn/models/language_model.hpp>
#include <attn/models/sentence_settings.hpp>
#include <attn/models/text_encoder.hpp>
#include <attn/models/token_batch.hpp>
#include <attn/models/token_embedding.hpp>
#include <attn/models/transformer_stack.hpp>
#include <attn/models/vision_transformer.hpp>
