// Signing in by the organization's identity provider. The provider is called outside of any transaction. One transaction then finds,
// links or makes the user, and signs in: under the locks of the address and of the team, so that of two first logins, and of a
// login and an invite or a directory, the second sees what the first made.

import type { RefusalAudit } from '#src/account/audit/refusals.ts'
import type { Allowlist } from '#src/account/login/allowlist.ts'
import {
  type AttemptCount,
  type AttemptRefusal,
  countsOfClient,
  createAttempts,
  limitsOfClient,
  siteOf,
  tooManyAttempts,
} from '#src/account/login/attempts.ts'
import type { Login } from '#src/account/login/login.ts'
import { isToken } from '#src/account/login/token-door.ts'
import { checkFreshSession, sessionOf } from '#src/account/sessions/own-sessions.ts'
import type { Sessions } from '#src/account/sessions/sessions.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Acting, Origin } from '#src/platform/http/principal.ts'
import { openClientSecret } from './configuration.ts'
import { normalizeDomain } from './domain.ts'
import { belongsElsewhere, createSettle, type Settled, type SsoSignedIn } from './linking.ts'
import { checkAccount, LoginRefused, ProviderError, refused, unavailable } from './problems.ts'
import type { Providers } from './provider.ts'
import {
  findByDomain,
  findConfig,
  insertStart,
  type SsoStart,
  shareConfig,
  takeStart,
  type UsableConfig,
} from './rows.ts'
import { newStart, openSecrets, START_SECONDS, type StartedLogin } from './starts.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
// A company of thousands stands behind one address at nine o'clock.
const STARTS = limitsOfClient({ name: 'sso start', most: 300, withinMs: MINUTE_MS })
const UNKNOWN_DOMAINS = limitsOfClient({ name: 'sso domain', most: 30, withinMs: MINUTE_MS })
// A callback that signs in is always accepted, whatever others behind the same address send.
const FAILED_CALLBACKS = limitsOfClient({ name: 'sso callback', most: 60, withinMs: HOUR_MS })

interface SsoLoginDeps {
  db: Pick<Database, 'system' | 'tenant'>
  now: () => Date
  sealer: Sealer
  baseUrl: string
  providers: Providers
  sessions: Pick<Sessions, 'create' | 'find' | 'endBySecret'>
  refusals: Pick<RefusalAudit, 'recordSso'>
  allowlist: Allowlist
  withSlot: Login['withSlot']
}

export interface Callback {
  code: string
  state: string
  iss: string | undefined
  origin: Origin
  /** The secret of the cookie that the start set. */
  browser: string | undefined
  /** Secret of the session that the browser has. */
  currentSecret: string | undefined
}

export type SsoLogin = ReturnType<typeof createSsoLogin>

export function createSsoLogin(deps: SsoLoginDeps) {
  const { db, now, sealer, baseUrl, providers, sessions, refusals, withSlot } = deps
  const redirectUri = `${baseUrl}/login/sso`
  const attempts = createAttempts()
  const settle = createSettle(deps)

  /**
   * Begins a login of somebody of a domain.
   * @param browser The secret of the cookie that the browser has, for logins in several tabs.
   * @throws {Failure} `invalid_request` at `?domain`; `not_found`; `rate_limited`; `plan_required`; `account_suspended`;
   * `provider_unavailable`.
   */
  async function start(given: string, origin: Origin, browser: string | undefined): Promise<StartedLogin> {
    const domain = normalizeDomain(given)
    if (domain === undefined) throw invalidField('?domain', 'invalid_format', 'must be a domain such as acme.example')
    const counts = { known: countsOfClient(origin.ip, STARTS), unknown: countsOfClient(origin.ip, UNKNOWN_DOMAINS) }
    attempts.check(counts.known, now())
    const found = await inTurn(origin, 'find single sign-on', async (tx) => {
      const config = await findByDomain(tx, domain)
      const limited = await attempts.count(tx, config === undefined ? counts.unknown : counts.known, now())
      return { config, limited }
    })
    if (found.limited !== undefined) throw tooManyAttempts(found.limited)
    if (found.config === undefined) {
      throw new Failure('not_found', `No organization here signs its users in by single sign-on with ${domain}.`)
    }
    checkAccount(found.config)
    const made = newStart(sealer, found.config, { browser, at: now() })
    const url = await authorizeUrl(found.config, made)
    await inTurn(origin, 'start single sign-on', (tx) => insertStart(tx, made.row))
    return { ...made, authorizeUrl: url }
  }

  /**
   * Begins a login that links the user of a session. It alone links an owner: an admin who configures the provider could otherwise
   * sign in as one.
   * @throws {Failure} `session_required`; `not_found`; and as `start` does.
   */
  async function link(caller: Acting, browser: string | undefined): Promise<StartedLogin> {
    const { accountId } = caller
    const { sessionId } = sessionOf(caller)
    const config = await db.tenant(caller, async (tx) => {
      await checkFreshSession(tx, caller, now(), 'A user is linked to the identity provider')
      return findConfig(tx, accountId)
    })
    if (config?.verifiedAt == null) {
      throw new Failure('not_found', 'Single sign-on is not configured, or its domain is not verified.')
    }
    const made = newStart(sealer, config, { browser, at: now(), sessionId })
    const url = await authorizeUrl(config, made)
    await db.tenant(caller, (tx) => insertStart(tx, made.row))
    return { ...made, authorizeUrl: url }
  }

  /**
   * Signs in with the answer of the provider. The start is used up, whatever comes of it.
   * @throws {Failure} `invalid_request` at `/state`; `rate_limited`; `sso_login_refused`; `provider_unavailable`; `conflict`;
   * `beta_access_required`; `plan_required`; `account_suspended`.
   */
  async function callback(request: Callback): Promise<SsoSignedIn> {
    const { origin } = request
    const counts = countsOfClient(origin.ip, FAILED_CALLBACKS)
    const taken = await inTurn(origin, 'take single sign-on', (tx) => takeIn(tx, request, counts))
    if ('limited' in taken) throw tooManyAttempts(taken.limited)
    if ('refused' in taken) throw taken.refused
    const { begun, config } = taken
    const current = request.currentSecret === undefined ? undefined : await sessions.find(request.currentSecret)
    const signedIn = current?.hasEnded === false ? current : undefined
    try {
      const identity = await providers.exchange(config, {
        clientSecret: openClientSecret(sealer, config),
        redirectUri,
        code: request.code,
        iss: request.iss,
        ...openSecrets(sealer, begun),
      })
      const login = { identity, begun, signedIn, origin, currentSecret: request.currentSecret }
      const settled = await inTurn(origin, 'settle single sign-on', (tx) => settle(tx, login)).catch(
        (error: unknown): Settled => {
          // Another account made the address its member between our look-up and our insert.
          if (error instanceof Error && 'constraint' in error && error.constraint === 'users_active_email_key') {
            return belongsElsewhere()
          }
          throw error
        },
      )
      if ('signedIn' in settled) return settled.signedIn
      return await fail(config, settled, origin, counts)
    } catch (error) {
      if (error instanceof LoginRefused) {
        return fail(
          config,
          { refused: refused(error.refusal, sentenceOf(error)), cause: error.refusal },
          origin,
          counts,
        )
      }
      if (error instanceof ProviderError) {
        return fail(config, { refused: unavailable(error), cause: error.problem }, origin, counts)
      }
      throw error
    }
  }

  return { start, link, callback }

  async function authorizeUrl(
    config: Pick<UsableConfig, 'accountId' | 'generation' | 'issuer' | 'clientId'>,
    { state, nonce, challenge }: Pick<StartedLogin, 'state' | 'nonce' | 'challenge'>,
  ): Promise<string> {
    try {
      return await providers.authorizeUrl(config, { redirectUri, state, nonce, challenge })
    } catch (error) {
      if (error instanceof ProviderError) throw unavailable(error)
      // What the provider's discovery document says has changed since it was configured.
      if (error instanceof Failure && error.code === 'invalid_request') {
        throw unavailable(
          new ProviderError('invalid_answer', 'its discovery document is no longer one that is accepted'),
        )
      }
      throw error
    }
  }

  async function takeIn(
    tx: Tx,
    { state, browser }: Callback,
    counts: readonly AttemptCount[],
  ): Promise<{ begun: SsoStart; config: UsableConfig } | { limited: AttemptRefusal } | { refused: Failure }> {
    const at = now()
    const isSound = isToken(state) && browser !== undefined
    const begun = isSound
      ? await takeStart(tx, { stateHash: sha256(state), browserHash: sha256(browser) }, at)
      : undefined
    const config = begun && (await shareConfig(tx, begun.accountId))
    if (begun !== undefined && config?.generation === begun.generation) return { begun, config }
    const limited = await attempts.count(tx, counts, at)
    return limited === undefined ? { refused: unknownState() } : { limited }
  }

  /** Counts and records a refusal, and throws it. */
  async function fail(
    { accountId }: { accountId: string },
    { refused: failure, cause, userId }: Extract<Settled, { refused: Failure }>,
    origin: Origin,
    counts: readonly AttemptCount[],
  ): Promise<never> {
    await inTurn(origin, 'refuse single sign-on', async (tx) => {
      await attempts.count(tx, counts, now())
      await refusals.recordSso(tx, { accountId, userId, origin, code: failure.code, cause: cause ?? null })
    })
    throw failure
  }

  // Together with logins by link: strangers send both.
  function inTurn<R>(origin: Origin, reason: string, work: (tx: Tx) => Promise<R>): Promise<R> {
    return withSlot(siteOf(origin.ip), () => db.system(reason, work))
  }
}

function sentenceOf({ message }: LoginRefused): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}

// One answer for every reason: a state that was guessed learns nothing.
function unknownState(): Failure {
  return invalidField(
    '/state',
    'invalid_link',
    `is not a login of this browser that goes on: it was used, began more than ${START_SECONDS / 60} minutes ago, or in another browser`,
  )
}
