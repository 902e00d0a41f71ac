import { expect } from 'vitest'
import type { Bound, CheckedAssertion, PasskeyChallenge } from '#src/authorize/passkeys/assertions.ts'
import type { AssertionResponse } from '#src/authorize/passkeys/bodies.ts'
import { Failure } from '#src/failure.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { type Authenticator, createAuthenticator, type RegistrationLies } from '../../support/authenticator.ts'
import { type SignedIn, startTestService, type TestServiceOptions } from '../../support/service.ts'

type Members = Record<string, unknown>

interface Sending {
  json?: unknown
  headers?: Record<string, string>
}

export const ORIGIN = 'https://claims.example.test'
const RP_ID = 'example.test'
export const BOUND: Bound = {
  action_hash: 'a'.repeat(43),
  payload_hash: 'b'.repeat(43),
  agent_session_id: 'session-1',
  device_id: 'device-1',
}

export type PasskeyService = Awaited<ReturnType<typeof startPasskeys>>

/** The service with people who have passkeys, and what tests of them do most. */
export async function startPasskeys(options: TestServiceOptions = {}) {
  const service = await startTestService({
    ...options,
    env: { WEBAUTHN_RP_ID: RP_ID, WEBAUTHN_ORIGINS: ORIGIN, ...options.env },
  })
  const { assertions } = service.services.authorize.passkeys

  const send = (user: SignedIn, method: string, path: string, { json, headers = {} }: Sending = {}) =>
    service.call({}, path, { method, ...(json !== undefined && { json }), headers: { ...user.headers, ...headers } })

  async function begin(user: SignedIn): Promise<Parameters<Authenticator['register']>[0]> {
    const answer = await send(user, 'POST', '/v1/passkeys/registration-options')
    expect(answer).toMatchObject({ status: 200 })
    return (answer.json as { options: Parameters<Authenticator['register']>[0] }).options
  }

  return {
    ...service,
    assertions,
    /** A request of a signed-in user. */
    send,
    begin,
    makeAuthenticator: (given: Parameters<typeof createAuthenticator>[0] = {}) =>
      createAuthenticator({ origin: ORIGIN, ...given }),
    /** Registers a passkey; returns its id. */
    async register(user: SignedIn, authenticator: Authenticator, lies: RegistrationLies = {}): Promise<string> {
      const response = authenticator.register(await begin(user), lies)
      const answer = await send(user, 'POST', '/v1/passkeys/register', { json: { name: 'Test passkey', response } })
      expect(answer).toMatchObject({ status: 200 })
      return String((answer.json as Members).passkey_id)
    },
    issue: (caller: Acting, bound: Bound = BOUND): Promise<PasskeyChallenge> =>
      service.test.db.tenant(caller, (tx) => assertions.issueChallenge(tx, caller, bound)),
    check: (
      caller: Acting,
      challenge: Pick<PasskeyChallenge, 'challenge_id'>,
      response: AssertionResponse,
      bound: Bound = BOUND,
    ): Promise<CheckedAssertion> =>
      assertions.checkAssertion(caller, { challenge_id: challenge.challenge_id, response }, bound),
    consume: (caller: Acting, checked: CheckedAssertion) =>
      service.test.db.tenant(caller, (tx) => assertions.consumeAssertion(tx, caller, checked)),
    audit: ({ accountId }: { accountId: string }) =>
      service.test.owner<{ action: string; subject_id: string; before: Members | null; after: Members | null }>(
        `SELECT action, subject_id, before, after FROM audit_entries WHERE account_id = $1 AND action LIKE 'passkey.%' ORDER BY id`,
        [accountId],
      ),
    mails: ({ accountId }: { accountId: string }) =>
      service.test.owner<{ kind: string; recipient: string; subject_id: string }>(
        'SELECT kind, recipient, subject_id FROM mails WHERE account_id = $1 ORDER BY id',
        [accountId],
      ),
  }
}

/** Pointer and code of what a refusal names. */
export async function refusalOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const [first] = error.errors ?? []
    return first === undefined ? error.code : `${first.pointer} ${first.code}`
  }
  return 'accepted'
}
