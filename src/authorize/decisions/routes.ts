import { Readable } from 'node:stream'
import { z } from 'zod'
import { recordAudit } from '#src/account/audit/record.ts'
import type { Database } from '#src/platform/db/database.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { NDJSON_TYPE } from '#src/platform/http/ndjson.ts'
import { listQuery, pageQuery } from '#src/platform/http/page.ts'
import { idParams, several } from '#src/platform/http/params.ts'
import { checkName } from '#src/platform/ids.ts'
import { type Chain, MAX_PART } from './chain.ts'
import type { Decisions } from './decisions.ts'
import type { LedgerExport, LedgerLine } from './export.ts'
import type { Proving } from './proving.ts'
import {
  chainCheckView,
  checkpointView,
  consistencyView,
  decisionKind,
  decisionView,
  explanationView,
  inclusionView,
  toChainCheckView,
  toCheckpointView,
  toConsistencyView,
  toDecisionView,
  toExplanationView,
  toInclusionView,
} from './views.ts'

const PATH = '/v1/decisions'

const common = { scope: 'admin', permission: 'decisions.read', needsAccountKey: true } as const

// Sizes and positions stay below 2^53.
const count = (least: number) =>
  z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,14})$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= least, `must be at least ${least}`)
    .meta({ type: 'integer', minimum: least, pattern: undefined })

const name = z.string().min(1).max(200)
const filters = {
  kind: several(decisionKind).optional(),
  reason: several(z.string().min(1).max(200)).optional(),
  subject_id: name.optional().describe('What was decided about.'),
  jti: name.optional().describe('Of an intent token.'),
  agent_id: name.optional(),
  agent_session_id: name.optional(),
  device_id: name.optional(),
  mandate_id: name.optional(),
  schedule_id: name.optional(),
  trace_id: name.optional(),
  matched_rule_id: name.optional().describe('The rule of the policy that gave the answer.'),
}

const checkRequest = z
  .strictObject({
    from: z.number().int().min(0).max(1e15).default(0).describe('The first position; `next` of the part before.'),
    limit: z.number().int().min(256).max(MAX_PART).default(MAX_PART).describe('Leaves of this part.'),
  })
  .default({ from: 0, limit: MAX_PART })
  .meta({ id: 'CheckLedgerRequest' })

interface DecisionParts {
  db: Pick<Database, 'tenant'>
  decisions: Decisions
  proving: Proving
  chain: Chain
  exported: LedgerExport
}

export function decisionRoutes({ db, decisions, proving, chain, exported }: DecisionParts): Route[] {
  return [
    listEndpoint(
      {
        ...common,
        path: PATH,
        operationId: 'listDecisions',
        sdk: 'decisions.list',
        summary: 'Decisions, newest first',
        query: { ...listQuery, ...filters },
        item: decisionView,
      },
      ({ caller, query }) => {
        const { kind: kinds, reason: reasons, limit, cursor, include, created_gte, created_lt, ...named } = query
        for (const id of Object.values(named)) checkName(id ?? '', caller.environment)
        const subjects = {
          subjectId: named.subject_id,
          jti: named.jti,
          agentId: named.agent_id,
          agentSessionId: named.agent_session_id,
          deviceId: named.device_id,
          mandateId: named.mandate_id,
          scheduleId: named.schedule_id,
          traceId: named.trace_id,
          matchedRuleId: named.matched_rule_id,
        }
        const asked = { limit, cursor, include, created_gte, created_lt, kinds, reasons, subjects }
        return decisions.list(caller, asked)
      },
      toDecisionView,
    ),
    listEndpoint(
      {
        ...common,
        path: `${PATH}/checkpoints`,
        operationId: 'listLedgerCheckpoints',
        sdk: 'decisions.checkpoints.list',
        summary: 'Signed states of the ledger, the largest first',
        query: pageQuery,
        item: checkpointView,
      },
      ({ caller, query }) => proving.checkpoints(caller, query),
      toCheckpointView,
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: `${PATH}/consistency`,
        operationId: 'getLedgerConsistency',
        sdk: 'decisions.consistency.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'A proof that the ledger has only grown since it had a size',
        query: z.object({
          from: count(1).default(1).describe('The older size; 1 when absent.'),
          to: count(1).optional().describe('The newer size; that of the newest checkpoint when absent.'),
        }),
        view: consistencyView,
        status: [200],
      },
      async ({ caller, query }) => toConsistencyView(await proving.compare(caller, query.from, query.to)),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: `${PATH}/export`,
        operationId: 'exportLedger',
        sdk: 'decisions.export',
        effect: 'read',
        kind: 'lines',
        summary: 'The ledger as NDJSON, to be checked without the service',
        audits: 'ledger.exported',
        query: z.object({ after: count(0).optional().describe('The last position that the caller has.') }),
        view: z.never(),
        status: [200],
        streams: { contentType: NDJSON_TYPE },
      },
      async ({ caller, query }) => {
        const lines = await exported(caller, query.after)
        const after = { after: query.after ?? null }
        await db.tenant(caller, (tx) => recordAudit(tx, caller, { action: 'ledger.exported', after }))
        const stream = Readable.from(textOf(lines), { objectMode: false })
        return { status: 200, stream, headers: { 'Content-Disposition': 'attachment; filename="ledger.ndjson"' } }
      },
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: `${PATH}/verify-chain`,
        operationId: 'checkLedger',
        sdk: 'decisions.verifyChain',
        effect: 'read',
        kind: 'call',
        summary: 'Check a part of the ledger: entries, leaves, stored nodes and checkpoints',
        body: checkRequest,
        view: chainCheckView,
        status: [200],
      },
      async ({ caller, body }) => toChainCheckView(await chain(caller, body)),
      // A check creates nothing that a replay could show.
      async ({ caller, body }) => toChainCheckView(await chain(caller, body)),
    ),
    endpoint(
      {
        ...common,
        // Its own decisions with `verify`; all of them with `admin` as well.
        scope: 'verify',
        method: 'GET',
        path: `${PATH}/:id`,
        operationId: 'getDecision',
        sdk: 'decisions.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One decision',
        params: idParams('dec'),
        view: decisionView,
        status: [200],
      },
      async ({ caller, params }) => toDecisionView(await decisions.get(caller, params.id)),
    ),
    endpoint(
      {
        ...common,
        permission: 'decisions.facts',
        method: 'GET',
        path: `${PATH}/:id/explain`,
        operationId: 'explainDecision',
        sdk: 'decisions.explain',
        effect: 'read',
        kind: 'call',
        summary: 'The facts of a decision, and whether they lead to the same answer again',
        audits: 'decision_facts.read',
        params: idParams('dec'),
        view: explanationView,
        status: [200],
      },
      async ({ caller, params }) => toExplanationView(await decisions.explain(caller, params.id)),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: `${PATH}/:id/proof`,
        operationId: 'getDecisionProof',
        sdk: 'decisions.proof.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'A proof that a decision is in the ledger',
        params: idParams('dec'),
        query: z.object({
          size: count(1).optional().describe('Of the tree; that of the newest checkpoint when absent.'),
        }),
        view: inclusionView,
        status: [200],
      },
      async ({ caller, params, query }) => toInclusionView(await proving.include(caller, params.id, query.size)),
    ),
  ]
}

// Some kilobytes at a time: a line each would be a write each.
const CHUNK_CHARACTERS = 32_768

async function* textOf(lines: AsyncIterable<LedgerLine>): AsyncGenerator<string> {
  let text = ''
  for await (const line of lines) {
    text += `${JSON.stringify(line)}\n`
    if (text.length < CHUNK_CHARACTERS) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}
