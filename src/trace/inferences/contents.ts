// What a trace keeps of its texts. By default that is hashes. With `retain: 'text'` the input and the tokens are kept, sealed,
// for 30 days, and no longer than the trace. The tokens of a withheld completion are never here: the process of the model does not give them away.

import { z } from 'zod'
import { canonicalize, type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { SamplingSettings } from '../llama/sampling.ts'
import type { ModelInput, ToolCall } from '../models/protocol.ts'
import { CHAT_ROLES, type ChatSpan } from '../tokenizer/chat.ts'

export interface TraceContent {
  /** As the model got it. */
  input: ModelInput
  promptTokens: number[]
  /** Empty where the completion was withheld. */
  completionTokens: number[]
  /** The text of each token, so that they can be read when the model is another one. */
  completionTexts: string[]
  /** The whole text, also of a model whose tokens are not known. Absent where the completion was withheld. */
  completion?: string | undefined
  toolCalls?: readonly ToolCall[] | undefined
  sampling: SamplingSettings
  /** The contents of the messages among the prompt's tokens. */
  spans: ChatSpan[]
}

export const CONTENT_DAYS = 30

const useOf = (id = '') => `trace content ${id}`

export const SEALED_CONTENTS: SealedColumn = {
  table: 'trace_contents',
  column: 'sealed_content',
  of: 'environment',
  id: 'id',
  use: ({ id }) => useOf(id),
}

// The largest input, and as many tokens as it and the largest completion can have, with the texts of these.
const LIMITS = { maxBytes: 8 * 1024 * 1024, maxDepth: 16 }
const tokens = z.array(z.number().int().min(0))
const content = z.object({
  input: z.union([
    z.object({ messages: z.array(z.object({ role: z.enum(CHAT_ROLES), content: z.string() })) }),
    z.object({ text: z.string() }),
    z.object({ tokens }),
  ]),
  promptTokens: tokens,
  completionTokens: tokens,
  completionTexts: z.array(z.string()),
  completion: z.string().optional(),
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.string() })).optional(),
  sampling: z.object({ temperature: z.number(), topK: z.number(), topP: z.number(), seed: z.number() }),
  spans: z.array(z.object({ role: z.enum(CHAT_ROLES), start: z.number(), end: z.number() })),
})

/** `prompt_hash`: base64url SHA-256 of the RFC 8785 text of the input, `{"messages": [...]}` or `{"text": ...}`. */
export function promptHashOf(input: ModelInput): string {
  return sha256Base64url(canonicalize(JSON.parse(JSON.stringify(input)) as Json))
}

/**
 * `completion_hash`: base64url SHA-256 of the completion in UTF-8; of one with calls of tools, of the RFC 8785 text of
 * `{"content": TEXT, "tool_calls": [{"arguments": TEXT, "name": TEXT}]}`.
 */
export function completionHashOf(text: string, toolCalls: readonly ToolCall[] = []): string {
  if (toolCalls.length === 0) return sha256Base64url(text)
  const calls = toolCalls.map(({ name, arguments: made }) => ({ name, arguments: made }))
  return sha256Base64url(canonicalize({ content: text, tool_calls: calls }))
}

export async function insertTraceContent(
  tx: Tx,
  { accountId, environment }: Scope,
  sealer: Sealer,
  { traceId, content, at }: { traceId: string; content: TraceContent; at: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO trace_contents (account_id, environment, id, sealed_content, created_at) VALUES ($1, $2, $3, $4, $5)`,
    [accountId, environment, traceId, sealer.seal(Buffer.from(JSON.stringify(content)), useOf(traceId)), at],
  )
}

/** False where there was nothing to erase. */
export async function eraseTraceContent(tx: Tx, traceId: string): Promise<boolean> {
  const rows = await tx.query('DELETE FROM trace_contents WHERE id = $1 RETURNING id', [traceId])
  return rows.length === 1
}

/** Undefined where only hashes were kept, and when the texts are gone. */
export async function loadTraceContent(tx: Tx, sealer: Sealer, traceId: string): Promise<TraceContent | undefined> {
  const [row] = await tx.query<{ sealed: Buffer }>(
    'SELECT sealed_content AS sealed FROM trace_contents WHERE id = $1',
    [traceId],
  )
  return row && content.parse(parseJson(sealer.open(row.sealed, useOf(traceId)), LIMITS))
}
