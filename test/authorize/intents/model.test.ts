// Random sequences of everything that changes what a token may do, against a small reference model. Each step is one
// operation, whose answer the model foresees, or several at once, after which nothing may be true that no order of them allows.

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { VerifyReason } from '#src/authorize/intents/reasons.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { type Clinic, createClinic } from './clinic.ts'
import { type Intents, startIntents } from './service.ts'
import { createUnder, type Under } from './under.ts'

let service: Intents
let under: Under
let clinic: Clinic

beforeAll(async () => {
  service = await startIntents({ poolSize: 8 })
  under = createUnder(service)
  clinic = createClinic(service)
})
afterAll(() => service?.close())

const LIMIT = 500
const KINDS = ['mandate', 'approved', 'schedule', 'order'] as const
type Kind = (typeof KINDS)[number]

interface ModelToken {
  kind: Kind
  amount: number
  /** Names the order, where the kind is `order`. */
  order: number
  approval: 'none' | 'pending' | 'approved' | 'denied'
  isRevoked: boolean
  isExecuted: boolean
  isReleased: boolean
}

interface Model {
  tokens: ModelToken[]
  isSuspended: boolean
  isMandateRevoked: boolean
  hasMissed: boolean
  orders: ('authorized' | 'executed' | 'declined')[]
}

interface RealToken {
  token: string
  jti: string
  amount: string
  approvalId: string | undefined
}

interface Real {
  caller: TestCaller
  owner: SignedIn
  agent: { agentId: string; sessionId: string }
  mandateId: string
  scheduleId: string
  orderIds: string[]
  tokens: RealToken[]
}

const isUnderMandate = ({ kind }: Pick<ModelToken, 'kind'>) => kind === 'mandate' || kind === 'approved'
const charged = ({ tokens }: Model) => tokens.filter((one) => isUnderMandate(one) && one.isExecuted && !one.isReleased)
const spentOf = (model: Model) => charged(model).reduce((sum, { amount }) => sum + amount, 0)
const cyclesOf = ({ tokens }: Model) =>
  tokens.filter((one) => one.kind === 'schedule' && one.isExecuted && !one.isReleased)

/** What verify answers, with a key of its own. */
function foresee(model: Model, token: ModelToken): VerifyReason | null {
  if (token.approval === 'denied') return 'approval_denied'
  if (token.isRevoked) return 'token_revoked'
  if (model.isSuspended) return 'agent_suspended'
  if (token.kind === 'schedule') {
    return token.isExecuted || cyclesOf(model).length > 0 ? 'schedule_already_executed' : null
  }
  const order = token.kind === 'order' ? model.orders[token.order] : undefined
  if (token.isExecuted || order === 'executed') return 'token_already_executed'
  if (token.kind === 'order') return order === 'declined' ? 'order_declined' : null
  if (model.isMandateRevoked) return 'mandate_revoked'
  if (model.hasMissed) return 'mandate_heartbeat_lapsed'
  if (spentOf(model) + token.amount > LIMIT) return 'mandate_budget_exceeded'
  return token.approval === 'pending' ? 'approval_pending' : null
}

/** Once true, no verification of the token is valid again. */
const isEnded = (model: Model, token: ModelToken) =>
  token.approval === 'denied' ||
  token.isRevoked ||
  (isUnderMandate(token) && model.isMandateRevoked) ||
  (token.kind === 'order' && model.orders[token.order] !== 'authorized')

type Operation =
  | { do: 'verify' | 'approve' | 'deny' | 'revoke' | 'decline'; at: number }
  | { do: 'outcome'; at: number; status: 'succeeded' | 'failed' | 'not_run' }
  | { do: 'suspend' | 'unsuspend' | 'miss' | 'heartbeat' | 'revoke mandate' }

let keys = 0

async function decide({ owner }: Real, { approvalId }: RealToken, path: 'approve' | 'deny'): Promise<boolean> {
  if (approvalId === undefined) return false
  const headers = { ...owner.headers, 'Service-Environment': 'sandbox' }
  const json = path === 'deny' ? { reason: 'No.' } : {}
  const { status } = await service.call({}, `/v1/approvals/${approvalId}/${path}`, { method: 'POST', json, headers })
  return status === 200
}

/** Does it, and returns what of the model it has changed. */
async function perform(real: Real, operation: Operation): Promise<(model: Model) => unknown> {
  const { caller, agent, mandateId } = real
  const post = async (path: string, json: Record<string, unknown> = {}) =>
    (await service.post(caller, path, json)).status === 200
  switch (operation.do) {
    case 'suspend':
      await post(`/v1/agents/${agent.agentId}/suspend`, { reason: 'r' })
      return (model) => Object.assign(model, { isSuspended: true })
    case 'unsuspend':
      await post(`/v1/agents/${agent.agentId}/unsuspend`)
      return (model) => Object.assign(model, { isSuspended: false })
    case 'miss':
      await under.shift('mandates', mandateId, { last_check_in_at: '-1 hour' })
      return (model) => Object.assign(model, { hasMissed: true })
    case 'heartbeat': {
      const hasCheckedIn = await post(`/v1/mandates/${mandateId}/heartbeat`)
      return (model) => hasCheckedIn && Object.assign(model, { hasMissed: false })
    }
    case 'revoke mandate':
      await post(`/v1/mandates/${mandateId}/revoke`, { reason: 'r' })
      return (model) => Object.assign(model, { isMandateRevoked: true })
  }
  if (operation.do === 'decline') {
    const index = operation.at % real.orderIds.length
    const isDeclined = await clinic.end(caller, real.orderIds[index] ?? '', 'declined')
    return (model) => isDeclined && model.orders.splice(index, 1, 'declined')
  }
  const index = operation.at % real.tokens.length
  const token = real.tokens[index]
  if (token === undefined) return () => undefined
  const change = (members: Partial<ModelToken>) => (model: Model) => Object.assign(model.tokens[index] ?? {}, members)
  switch (operation.do) {
    case 'verify': {
      keys += 1
      const answer = await under.verify(caller, token.token, token.amount, { key: `key-${keys}` })
      return (model) => {
        const known = model.tokens[index]
        if (known === undefined || answer.valid !== true) return
        // Never after an end that had committed before this step, and never twice.
        expect({ isEnded: isEnded(model, known), isExecuted: known.isExecuted }).toEqual({
          isEnded: false,
          isExecuted: false,
        })
        known.isExecuted = true
        if (known.kind === 'order') model.orders[known.order] = 'executed'
      }
    }
    case 'approve':
      return (await decide(real, token, 'approve')) ? change({ approval: 'approved' }) : () => undefined
    case 'deny':
      return (await decide(real, token, 'deny')) ? change({ approval: 'denied' }) : () => undefined
    case 'revoke':
      await service.done(caller, '/v1/intent/revocations', { scope: 'token', jti: token.jti, reason: 'r' })
      return change({ isRevoked: true })
    case 'outcome': {
      const { status } = operation
      const isReported = await post(`/v1/intent/executions/${token.jti}/outcome`, { status })
      return isReported && status !== 'succeeded' ? change({ isReleased: true }) : () => undefined
    }
  }
}

const issue = ({
  kind,
  amount: drawn,
  order,
}: {
  kind: Kind
  amount: number
  order: number
}): fc.AsyncCommand<Model, Real> => ({
  check: ({ tokens, isSuspended }) => tokens.length < 8 && !isSuspended,
  async run(model, real) {
    const amount = kind === 'schedule' ? 100 : drawn
    const { intent_token, jti, approval_id } = await service.done(real.caller, '/v1/intent/authorize', {
      ...under.payload(String(amount)),
      device_id: 'device-1',
      agent_session_id: real.agent.sessionId,
      ...(kind === 'schedule' && { schedule_id: real.scheduleId }),
      ...(kind === 'order' && { order_id: real.orderIds[order] }),
      ...(isUnderMandate({ kind }) && { mandate_id: real.mandateId }),
      ...(kind === 'approved' && { action_type: 'wire' }),
    })
    // Nobody is asked for what the mandate refuses anyway; verify asks once it fits.
    const approvalId = approval_id === undefined ? undefined : String(approval_id)
    const isAsked = kind === 'approved' && approvalId !== undefined
    const refused = foresee(model, {
      kind,
      amount,
      order,
      approval: 'none',
      isRevoked: false,
      isExecuted: false,
      isReleased: false,
    })
    expect(isAsked).toBe(kind === 'approved' && refused === null)
    if (kind === 'approved' && !isAsked) return
    real.tokens.push({ token: String(intent_token), jti: String(jti), amount: String(amount), approvalId })
    const approval = isAsked ? 'pending' : 'none'
    model.tokens.push({ kind, amount, order, approval, isRevoked: false, isExecuted: false, isReleased: false })
  },
  toString: () => `issue ${kind} ${drawn}`,
})

const together = (operations: readonly Operation[]): fc.AsyncCommand<Model, Real> => ({
  check: ({ tokens }) => tokens.length > 0,
  async run(model, real) {
    const [only, ...others] = operations
    if (only?.do === 'verify' && others.length === 0) await checkForeseen(model, real, only)
    const changes = await Promise.all(operations.map((one) => perform(real, one)))
    // Verifications first: what they must not see is what had ended before this step.
    const isVerify = (index: number) => operations[index]?.do === 'verify'
    changes.forEach((change, index) => void (isVerify(index) && change(model)))
    changes.forEach((change, index) => void (isVerify(index) || change(model)))
    await checkSettled(model, real)
  },
  toString: () => JSON.stringify(operations),
})

/** One verification alone: its whole answer, by a check that changes nothing. */
async function checkForeseen(model: Model, real: Real, { at }: { at: number }) {
  const index = at % real.tokens.length
  const [known, token] = [model.tokens[index], real.tokens[index]]
  if (known === undefined || token === undefined || known.isExecuted) return
  const answer = await under.verify(real.caller, token.token, token.amount, { execute: false })
  expect(answer.reason).toBe(foresee(model, known))
}

async function checkSettled(model: Model, { caller, agent, mandateId, tokens, orderIds }: Real) {
  const { json } = await service.call(caller, `/v1/mandates/${mandateId}`)
  // Of what is done and undone at once, either may come last.
  const { json: shown } = await service.call(caller, `/v1/agents/${agent.agentId}`)
  Object.assign(model, { hasMissed: json.status === 'suspended', isSuspended: shown.status === 'suspended' })
  expect(json.budget).toMatchObject({ remaining: String(LIMIT - spentOf(model)) })
  expect(cyclesOf(model).length).toBeLessThanOrEqual(1)
  const orders = await service.test.owner<{ status: string }>(
    'SELECT status FROM orders WHERE id = ANY($1) ORDER BY id',
    [orderIds],
  )
  expect(orders.map(({ status }) => status)).toEqual(model.orders)
  const executed = await under.entries(caller, 'execute')
  const expected = tokens.filter((_, index) => model.tokens[index]?.isExecuted).map(({ jti }) => jti)
  expect(executed.map(({ inputs }) => inputs.jti).toSorted()).toEqual(expected.toSorted())
}

const at = fc.nat({ max: 7 })
const OPERATION: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ do: fc.constant('verify' as const), at }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('approve' as const), at }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom('deny' as const, 'revoke' as const, 'decline' as const), at }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('outcome' as const),
      at,
      status: fc.constantFrom('succeeded' as const, 'failed' as const, 'not_run' as const),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom('suspend' as const, 'unsuspend' as const, 'miss' as const, 'heartbeat' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'revoke mandate' as const }) },
)
const COMMANDS = [
  fc
    .record({ kind: fc.constantFrom(...KINDS), amount: fc.integer({ min: 50, max: 250 }), order: fc.nat({ max: 1 }) })
    .map(issue),
  OPERATION.map((operation) => together([operation])),
  fc.array(OPERATION, { minLength: 2, maxLength: 5 }).map(together),
]

async function start(): Promise<{ model: Model; real: Real }> {
  const caller = await service.makeCaller()
  const [owner, agent] = [await service.signIn(caller.accountId, { role: 'owner' }), await service.makeAgent(caller)]
  await service.setPolicy(caller, [
    {
      id: 'wires',
      when: { field: 'action_type', op: 'eq', value: 'wire' },
      require: { approval: { min_approvals: 1 } },
    },
  ])
  const budget = { limit: String(LIMIT), currency: 'EUR', period: 'total' }
  const mandateId = await under.mandate(caller, { budget, heartbeat: { interval_seconds: 300 } })
  const scheduleId = await under.schedule(caller)
  const first = await clinic.authorized(caller, { payloadHash: null })
  const second = await clinic.another(caller, first, { payloadHash: null })
  return {
    model: {
      tokens: [],
      isSuspended: false,
      isMandateRevoked: false,
      hasMissed: false,
      orders: ['authorized', 'authorized'],
    },
    real: { caller, owner, agent, mandateId, scheduleId, orderIds: [first.orderId, second.orderId], tokens: [] },
  }
}

/** By the clock of Postgres, which the entries carry: no token was valid after it had ended. */
async function checkLedger({ caller }: Real) {
  const entries = await service.decisions(caller)
  const ends = entries.filter(({ kind, entry }) => {
    const { reason } = JSON.parse(entry) as { reason: string | null }
    return kind === 'revocation' || (kind === 'approval_decision' && /den/.test(String(reason)))
  })
  const valid = entries.filter(({ kind, reason }) => kind === 'verify' && reason === null)
  const late = valid.filter((one) => ends.some((end) => end.jti === one.jti && one.at > end.at))
  expect(late).toEqual([])
}

describe('verify, approve, deny, revoke, suspend, check in and report, in any order and at once', () => {
  it('never allow what has ended, execute once, and spend what was executed and not given back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 40 }), async (commands) => {
        const { model, real } = await start()
        await fc.asyncModelRun(() => ({ model, real }), commands)
        await checkLedger(real)
      }),
      { numRuns: 40 },
    )
  })
})
