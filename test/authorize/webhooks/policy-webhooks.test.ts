import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import {
  createPolicyWebhooks,
  MAX_IN_FLIGHT,
  type PolicyQuestion,
  type PolicyWebhookResult,
} from '#src/authorize/webhooks/policy-webhooks.ts'
import { createPolicySecrets } from '#src/authorize/webhooks/secrets.ts'
import { actorOf as actorOfPrincipal } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createLog } from '#src/platform/log.ts'
import { createOutbound, type OutboundOptions } from '#src/platform/net/outbound.ts'
import { makeCertificate } from '../../platform/net/certificate.ts'
import { actingIn, type TestCaller } from '../../support/callers.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { createReceivers, decide, drip, flood } from './receivers.ts'

const receivers = createReceivers()
const logged: Record<string, unknown>[] = []
const log = createLog({ process: 'web', level: 'warn' }, { write: (line) => void logged.push(JSON.parse(line)) })
let service: TestService
let caller: TestCaller
let secret: string

beforeAll(async () => {
  service = await startTestService({ env: { OUTBOUND_ALLOW: '127.0.0.1' }, overrides: () => ({ log }) })
})
afterAll(async () => {
  await receivers.close()
  await service.close()
})
beforeEach(async () => {
  caller = await service.makeCaller()
  secret = String((await rotate()).json.secret)
})

const rotate = (json?: object, headers = {}) =>
  service.call(caller, '/v1/policy/webhook-secret/rotate', { method: 'POST', headers, ...(json && { json }) })
const state = async () => (await service.call(caller, '/v1/policy/webhook-secret')).json

const question = (more: Partial<PolicyQuestion> = {}): PolicyQuestion => ({
  evaluation_id: 'dec_test_01m7x7enn9exb9d4gh0kbvf97d',
  jti: 'jti_test_01m7x7enn9exb9d4gh0kbvf97d',
  action_description: 'Pay 20 EUR to Café «Mañana»',
  action_payload: { amount: '20.00', currency: 'EUR' },
  context: { transaction_amount: 20 },
  agent_id: null,
  agent_session_id: 'session-1',
  device_id: 'phone-1',
  ...more,
})

interface Asking {
  scope?: Scope
  timeoutMs?: number
  signal?: AbortSignal
  webhooks?: Pick<ReturnType<typeof createPolicyWebhooks>, 'ask'>
}

/** Asks each URL for a rule of its own, and returns the answers and causes in order. */
async function ask(urls: string[], { scope = caller, timeoutMs = 10_000, signal, webhooks }: Asking = {}) {
  const needs = urls.map((url, index) => ({ ruleId: `rule-${index}`, url, timeoutMs }))
  const asked = webhooks ?? service.services.authorize.webhooks.policyWebhooks
  const answers = await asked.ask(scope, needs, question(), signal ?? new AbortController().signal)
  expect(Object.keys(answers).sort()).toEqual(needs.map(({ ruleId }) => ruleId).sort())
  return {
    answers: needs.map(({ ruleId }) => (causeOf(answers[ruleId]) === null ? answers[ruleId] : 'unavailable')),
    causes: needs.map(({ ruleId }) => causeOf(answers[ruleId])),
  }
}

/** null: an answer. */
function causeOf(result: PolicyWebhookResult | undefined): string | null {
  return result !== undefined && 'unavailable' in result ? result.unavailable : null
}

/** As the service makes them, with another way out. */
function webhooksBy(options: OutboundOptions) {
  const { db, sealer } = service.services.platform
  const outbound = createOutbound(options)
  const secrets = createPolicySecrets({ db, sealer })
  const webhooks = createPolicyWebhooks({ outbound, secrets, now: () => new Date() })
  return { webhooks, secrets, close: () => outbound.close() }
}

describe('the secret of policy webhooks', () => {
  it('does not exist before its first rotation: until then nothing is sent, and every rule is unavailable', async () => {
    const stranger = await service.makeCaller()
    const { questions, url } = await receivers.plain(decide('allow'))
    expect(await ask([url, url], { scope: stranger })).toMatchObject({
      answers: ['unavailable', 'unavailable'],
      causes: ['no_secret', 'no_secret'],
    })
    expect(questions).toEqual([])
    const { json } = await service.call(stranger, '/v1/policy/webhook-secret')
    expect(json).toEqual({ rotated_at: null, rotated_by: null, previous_expires_at: null })
  })

  it('is shown once, in the form that libraries of webhooks expect', async () => {
    const first = await rotate({}, { 'Idempotency-Key': 'rotation-2' })
    expect(first.json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{44}$/)
    const again = await rotate({}, { 'Idempotency-Key': 'rotation-2' })
    const { secret: _, ...shown } = first.json
    expect(again.json).toEqual({ ...shown, secret_shown: false })
    expect(await state()).toEqual(shown)
    expect(shown).toMatchObject({
      rotated_by: { type: 'key', id: actorOf(caller) },
      rotated_at: expect.stringMatching(/Z$/),
    })
    expect(Date.parse(String(shown.previous_expires_at)) - Date.parse(String(shown.rotated_at))).toBe(86_400_000)
  })

  it('signs beside the one before it during the grace, and one more rotation ends the oldest', async () => {
    const { questions, url } = await receivers.plain(decide('allow'))
    const second = String((await rotate({ grace_seconds: 60 })).json.secret)
    const verdicts = async (secrets: string[]) => {
      await ask([url])
      const last = questions.at(-1)
      if (last === undefined) throw new Error('no question came')
      return secrets.map((one) => {
        const verdict = verifyWebhookSignature(last, [one], Math.floor(Date.now() / 1_000))
        return verdict.valid || verdict.reason
      })
    }
    expect(await verdicts([secret, second])).toEqual([true, true])
    expect(String(questions.at(-1)?.headers['service-signature'])).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    const third = String((await rotate()).json.secret)
    expect(await verdicts([secret, second, third])).toEqual(['signature_mismatch', true, true])
    const fourth = String((await rotate({ grace_seconds: 0 })).json.secret)
    expect(await verdicts([third, fourth])).toEqual(['signature_mismatch', true])
    expect(await state()).toMatchObject({ previous_expires_at: null })
    await rotate({ grace_seconds: 60 })
    await service.test.owner(
      'UPDATE policy_webhook_secrets SET expires_at = now() WHERE account_id = $1 AND expires_at IS NOT NULL',
      [caller.accountId],
    )
    expect(await verdicts([fourth])).toEqual(['signature_mismatch'])
    expect(await state()).toMatchObject({ previous_expires_at: null })
  })

  it('has a grace of at most a week, and belongs to an account of its own and one environment', async () => {
    for (const grace_seconds of [-1, 604_801, 1.5, '60', null]) {
      const { status, json } = await rotate({ grace_seconds })
      expect([grace_seconds, status, json.errors?.[0]?.pointer]).toEqual([grace_seconds, 400, '/grace_seconds'])
    }
    const shared = await service.makeCaller({ isAccountBearing: false })
    for (const method of ['GET', 'POST']) {
      const path = `/v1/policy/webhook-secret${method === 'POST' ? '/rotate' : ''}`
      expect((await service.call(shared, path, { method })).json.code).toBe('account_key_required')
    }
    const live = { accountId: caller.accountId, environment: 'live' as const }
    const { url } = await receivers.plain(decide('allow'))
    expect((await ask([url], { scope: live })).causes).toEqual(['no_secret'])
  })

  it('rotates one after the other when several callers ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => rotate()))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(new Set(answers.map(({ json }) => json.secret)).size).toBe(4)
    const rows = await service.test.owner('SELECT version FROM policy_webhook_secrets WHERE account_id = $1', [
      caller.accountId,
    ])
    expect(rows).toHaveLength(2)
  })

  it('does not open in the row of another account', async () => {
    const other = await service.makeCaller()
    await service.call(other, '/v1/policy/webhook-secret/rotate', { method: 'POST' })
    await service.test.owner(
      `UPDATE policy_webhook_secrets SET sealed_secret =
         (SELECT sealed_secret FROM policy_webhook_secrets WHERE account_id = $2 AND version = 1)
       WHERE account_id = $1`,
      [caller.accountId, other.accountId],
    )
    await expect(ask(['http://127.0.0.1:9/'])).rejects.toThrow('sealed')
  })
})

describe('a question', () => {
  it('says what is asked and by when, signed over its exact bytes', async () => {
    const { questions, url } = await receivers.plain(decide('allow'))
    expect((await ask([url], { timeoutMs: 1_500 })).answers).toEqual([{ decision: 'allow' }])
    const [asked] = questions
    const { deadline_ms, ...rest } = asked?.json ?? {}
    expect(rest).toEqual({ ...question(), rule_id: 'rule-0' })
    expect(deadline_ms).toBeGreaterThan(0)
    expect(deadline_ms).toBeLessThanOrEqual(1_500)
    expect(asked?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': `${question().evaluation_id}-1`,
    })
    const now = Math.floor(Date.now() / 1_000)
    expect(verifyWebhookSignature(asked ?? { rawBody: Buffer.of(), headers: {} }, [secret], now)).toEqual({
      valid: true,
    })
  })

  it('is sent for all rules at once: no receiver waits for another', async () => {
    const held: (() => void)[] = []
    const { questions, url } = await receivers.plain((response, { json }) => {
      held.push(() => decide(json.rule_id === 'rule-1' ? 'deny' : 'allow')(response, {} as never))
      if (held.length === 5) for (const answer of held) answer()
    })
    expect((await ask(Array.from({ length: 5 }, () => url))).answers).toEqual(
      ['allow', 'deny', 'allow', 'allow', 'allow'].map((decision) => ({ decision })),
    )
    expect(new Set(questions.map(({ headers }) => headers['webhook-id'])).size).toBe(5)
  })

  it('is asked once: a failure is not tried again', async () => {
    const { questions, url } = await receivers.plain((response) => response.writeHead(503).end())
    expect((await ask([url])).causes).toEqual(['status_5xx'])
    expect(questions).toHaveLength(1)
  })

  it('has 3 seconds together with all others, whatever time its rule allows', { timeout: 30_000 }, async () => {
    const { questions, url } = await receivers.plain(() => {})
    const quick = await receivers.plain(decide('deny', { reason: 'too late for lunch' }))
    expect(await ask([url, url, quick.url], { timeoutMs: 60_000 })).toMatchObject({
      answers: ['unavailable', 'unavailable', { decision: 'deny', reason: 'too late for lunch' }],
      causes: ['timeout', 'timeout', null],
    })
    for (const { json } of questions) expect(json.deadline_ms).toBeLessThanOrEqual(3_000)
  })

  it('ends in time although the call itself does not end', async () => {
    const { db, sealer } = service.services.platform
    // As when the thread of the connection hangs.
    const outbound = { send: () => new Promise<never>(() => {}) }
    const webhooks = createPolicyWebhooks({
      outbound,
      secrets: createPolicySecrets({ db, sealer }),
      now: () => new Date(),
    })
    expect((await ask(['https://a.example.com/'], { webhooks, timeoutMs: 50 })).causes).toEqual(['timeout'])
  })

  it('ends when its caller goes away', async () => {
    const { questions, url } = await receivers.plain(() => {})
    const controller = new AbortController()
    const asked = ask([url], { signal: controller.signal })
    await until(() => questions.length === 1)
    controller.abort()
    expect((await asked).causes).toEqual(['aborted'])
  })

  it('is one of 32 in flight for an account; further ones are unavailable at once, other accounts are asked', async () => {
    const held: (() => void)[] = []
    const { url } = await receivers.plain((response) => held.push(() => decide('allow')(response, {} as never)))
    const first = ask(Array.from({ length: MAX_IN_FLIGHT + 2 }, () => url))
    await until(() => held.length === MAX_IN_FLIGHT)
    const quick = await receivers.plain(decide('allow'))
    expect((await ask([quick.url])).causes).toEqual(['busy'])
    expect(quick.questions).toEqual([])
    const other = await service.makeCaller()
    await service.call(other, '/v1/policy/webhook-secret/rotate', { method: 'POST' })
    expect((await ask([quick.url], { scope: other })).causes).toEqual([null])
    for (const answer of held) answer()
    const { causes } = await first
    expect(causes.filter((cause) => cause === 'busy')).toHaveLength(2)
    expect(causes.filter((cause) => cause === null)).toHaveLength(MAX_IN_FLIGHT)
    expect((await ask([quick.url])).causes).toEqual([null])
  })
})

describe('an answer', () => {
  it.each([
    [201, 'status_2xx'],
    [204, 'status_2xx'],
    [302, 'status_3xx'],
    [308, 'status_3xx'],
    [401, 'status_4xx'],
    [500, 'status_5xx'],
  ])('with status %i is none', async (status, cause) => {
    const trap = await receivers.plain(decide('allow'))
    const { url } = await receivers.plain((response) => {
      response.writeHead(status, { location: trap.url }).end(status === 204 ? undefined : '{"decision":"allow"}')
    })
    expect((await ask([url])).causes).toEqual([cause])
    expect(trap.questions).toEqual([])
  })
})

describe('a hostile receiver', () => {
  const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
  it.each([
    ['sends headers one byte at a time', (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-', 'a'), 'timeout'],
    [
      'sends its body one byte at a time',
      (socket) => drip(socket, `${OK}content-length: 9000\r\n\r\n`, ' '),
      'timeout',
    ],
    [
      'never ends its chunks',
      (socket) => drip(socket, `${OK}transfer-encoding: chunked\r\n\r\n`, '1\r\n \r\n'),
      'timeout',
    ],
    [
      'sends a body without end',
      (socket) => flood(socket, `${OK}content-length: 9000000000\r\n\r\n`),
      'response_too_large',
    ],
    ['sends headers without end', (socket) => flood(socket, `${OK}x-long: `), 'response_too_large'],
    ['hangs up', (socket) => socket.end(), 'reset'],
    ['hangs up in its body', (socket) => socket.end(`${OK}content-length: 20\r\n\r\n{"decision":`), 'reset'],
    ['speaks no HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), 'invalid_response'],
  ] as [string, (socket: import('node:net').Socket) => unknown, string][])(
    'that %s allows nothing',
    async (_, answer, cause) => {
      const url = await receivers.raw(answer)
      expect(await ask([url], { timeoutMs: cause === 'timeout' ? 400 : 10_000 })).toMatchObject({
        answers: ['unavailable'],
        causes: [cause],
      })
    },
  )

  it('is not called where its name leads to a private address, or its URL is none of ours', async () => {
    const lookup = async () => ['93.184.216.34', '10.0.0.1']
    const { webhooks, close } = webhooksBy({ lookup })
    const { url } = await receivers.plain(decide('allow'))
    const urls = ['https://rebound.example.com/', url, 'ftp://a.example.com/', 'https://u:p@a.example.com/']
    expect((await ask(urls, { webhooks })).causes).toEqual([
      'dns_failed',
      'refused_address',
      'invalid_url',
      'invalid_url',
    ])
    await close()
  })

  it('is called over TLS alone in live, with a certificate that a known authority issued to its name', async () => {
    const certificate = await makeCertificate(['receiver.test'])
    const mine = await receivers.secure('receiver.test', certificate, decide('allow'))
    const other = await receivers.secure('receiver.test', await makeCertificate(['other.test']), decide('allow'))
    const plain = await receivers.plain(decide('allow'))
    const live = { accountId: caller.accountId, environment: 'live' as const }
    const options = { allow: ['receiver.test', '127.0.0.1'], lookup: async () => ['127.0.0.1'] }
    const trusting = webhooksBy({ ...options, ca: certificate.cert })
    await trusting.secrets.rotate(actingIn(live), { graceSeconds: 0 })
    const { causes } = await ask([mine.url, other.url, plain.url], { webhooks: trusting.webhooks, scope: live })
    expect(causes).toEqual([null, 'tls_failed', 'invalid_url'])
    const usual = webhooksBy(options)
    expect((await ask([mine.url], { webhooks: usual.webhooks, scope: live })).causes).toEqual(['tls_failed'])
    expect([mine.questions.length, other.questions.length, plain.questions.length]).toEqual([1, 0, 0])
    await trusting.close()
    await usual.close()
  })
})

describe('the outcomes', () => {
  it('are counted by cause with the time that they took, and logged with rule and cause once a minute', async () => {
    const registry = new Registry()
    const feature = service.services.features.find(({ name }) => name === 'policy_webhooks')
    feature?.collect?.web?.(registry)
    logged.splice(0)
    const allowing = await receivers.plain(decide('allow'))
    const denying = await receivers.plain(decide('deny'))
    const failing = await receivers.plain((response) => response.writeHead(500).end('whsec_do_not_log_this'))
    for (let i = 0; i < 3; i += 1) await ask([allowing.url, denying.url, failing.url])
    await ask([allowing.url], { scope: await service.makeCaller() })
    const values = await registry.getSingleMetric('countersign_policy_webhook_questions_total')?.get()
    expect(Object.fromEntries(values?.values.map(({ labels, value }) => [labels.outcome, value]) ?? [])).toEqual({
      allow: 3,
      deny: 3,
      status_5xx: 3,
      no_secret: 1,
    })
    const times = await registry.getSingleMetricAsString('countersign_policy_webhook_seconds')
    expect(times).toContain('countersign_policy_webhook_seconds_count 9')
    const lines = logged.filter(({ rule }) => rule !== undefined)
    expect(lines.map(({ account, rule, reason }) => [account === caller.accountId, rule, reason])).toEqual([
      [true, 'rule-2', 'status_5xx'],
      [false, 'rule-0', 'no_secret'],
    ])
    expect(JSON.stringify(logged)).not.toContain('whsec_')
  })
})

function actorOf({ principal }: TestCaller): string {
  return actorOfPrincipal(principal).id
}
