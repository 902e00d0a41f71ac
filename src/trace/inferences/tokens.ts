// GET /v1/trace/traces/:id/tokens: the tokens of a completion, with their probabilities and the canary readings of their
// windows; with retained text also their texts, and a logit lens, which the model computes when it is asked.

import { Failure, invalidField } from '#src/failure.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Page } from '#src/platform/http/page.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { type CompletionFacts, findCompletionFacts, findTrace, noTrace, type TraceRow } from '../canaries/traces.ts'
import { type LensToken, MAX_LENS_TOKENS } from '../models/lens.ts'
import type { Models } from '../models/models.ts'
import type { WindowScores } from '../probes/reader.ts'
import { loadTraceContent, type TraceContent } from './contents.ts'

export interface TracedToken {
  index: number
  logProbability: number
  /** Of the window that ends with this token; null where none does. */
  readings: WindowScores['scores'] | null
  /** null without retained text. */
  token: number | null
  text: string | null
  /** The likely tokens before each layer and after the last; null where it was not asked for. */
  lens: LensToken[][] | null
}

export interface TokensQuery {
  limit: number
  cursor?: string | undefined
  /** The tokens of each layer; 0: no lens. */
  lens: number
}

export type Tokens = ReturnType<typeof createTracedTokens>

interface TokensDeps extends Pick<Platform, 'db' | 'pager' | 'sealer'> {
  models: Pick<Models, 'version'>
}

export function createTracedTokens({ db, pager, sealer, models }: TokensDeps) {
  /** The logit lens of each layer at the tokens from `from` to `to` of the completion, and their texts. */
  async function readLens(
    scope: Scope,
    { modelVersionId }: TraceRow,
    { promptTokens, completionTokens }: TraceContent,
    { from, to, top, signal }: { from: number; to: number; top: number; signal: AbortSignal },
  ) {
    const backend = await models.version(modelVersionId ?? '')
    const tokens = [...promptTokens, ...completionTokens]
    const range = { from: promptTokens.length + from, to: promptTokens.length + to }
    return backend.call('lens', { tokens, ...range, top }, { signal, lane: scope.accountId })
  }

  return {
    /**
     * In their order.
     * @throws {Failure} `not_found`, for a lens also where the model has another version now; `invalid_request`;
     * `environment_mismatch`; `text_not_kept` for a lens without retained text.
     */
    async list(scope: Scope, id: string, query: TokensQuery, signal: AbortSignal): Promise<Page<TracedToken>> {
      checkId(id, 'trc', scope.environment)
      const { limit, cursor, lens: top } = query
      if (top > 0 && limit > MAX_LENS_TOKENS) {
        throw invalidField('?limit', 'out_of_range', `must be at most ${MAX_LENS_TOKENS} with lens`)
      }
      const binding = { route: 'GET /v1/trace/traces/:id/tokens', scope, query: { id, lens: top } }
      const from = Number(pager.decode(cursor, binding) ?? -1) + 1
      const { trace, facts, content } = await db.tenant(scope, async (tx) => {
        const [trace, facts] = await Promise.all([findTrace(tx, id), findCompletionFacts(tx, id)])
        if (trace === undefined) throw noTrace(id)
        return { trace, facts: factsOf(trace, facts), content: await loadTraceContent(tx, sealer, id) }
      })
      if (top > 0 && content === undefined) {
        throw new Failure('text_not_kept', `${id} keeps no text: a logit lens needs an inference with retain=text.`)
      }
      const rows = tokensOf(facts).slice(from, from + limit + 1)
      const shown = rows.slice(0, limit)
      const seen =
        content === undefined || shown.length === 0 || top === 0
          ? undefined
          : await readLens(scope, trace, content, { from, to: from + shown.length, top, signal })
      const told = rows.map((row, place) => ({
        ...row,
        token: content?.completionTokens[row.index] ?? null,
        text: content?.completionTexts[row.index] ?? null,
        lens: seen?.layers[place] ?? null,
      }))
      return pager.page(told, limit, ({ index }) => String(index), binding)
    },
  }
}

function factsOf({ id, inference }: TraceRow, facts: CompletionFacts | undefined): CompletionFacts {
  if (inference !== null && facts !== undefined) return facts
  throw new Failure('not_found', `${id} is of readings alone: it has no tokens.`)
}

function tokensOf({ logProbabilities, windows }: CompletionFacts): TracedToken[] {
  const readings = new Map(windows.map(({ n_tokens: end, scores }) => [end - 1, scores]))
  return logProbabilities.map((logProbability, index) => ({
    index,
    logProbability,
    readings: readings.get(index) ?? null,
    token: null,
    text: null,
    lens: null,
  }))
}
