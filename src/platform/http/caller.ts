// Who calls, and whether they may. The key or the session alone decides; no field of a request adds to it, except that
// a session names the environment. Order (no step reveals anything about the next): key or session -> suspension of
// its account, or its closure -> address of the key, or CSRF token -> environment of the path's ids -> scope and products,
// or role -> account-bearing -> plan.

import type { IncomingMessage } from 'node:http'
import type { GrantableScope, Plan, Product, Role } from '#src/catalogue/access.ts'
import { isSeenFromSandbox, rolesWith, WHATEVER_THE_ACCOUNT } from '#src/catalogue/permissions.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Environment } from '#src/platform/ids.ts'
import { failsNoEarlier } from '#src/platform/time-limit.ts'
import { isListed } from './client-address.ts'
import { type ClosureTimes, checkOpen, checkSuspension } from './closed.ts'
import type { Caller, Route } from './endpoint.ts'
import { checkProducts, hasScope, type Origin, type Refused } from './principal.ts'
import type { SessionCookies } from './session-cookie.ts'

/** What the database knows of a key, valid or not. */
export interface KeyRow {
  keyId: string
  accountId: string
  environment: Environment
  scopes: readonly GrantableScope[]
  isAccountBearing: boolean
  plan: Plan
  products: readonly Product[]
  /** Closure of the account. */
  closure?: ClosureTimes | undefined
  expiresAt: Date | undefined
  revokedAt: Date | undefined
  /** When the key's account was suspended. */
  suspendedAt: Date | undefined
  /** The products whose routes it may call; undefined: all. */
  narrowedTo?: readonly Product[] | undefined
  /** It calls routes that read, and no others. */
  isReadOnly?: boolean
  /** The addresses and ranges from which it is accepted; undefined: from every address. */
  ipAllow: readonly string[] | undefined
}

/** What the database knows of a user's session, ended or not. */
export interface SessionRow {
  sessionId: string
  userId: string
  accountId: string
  role: Role
  plan: Plan
  products: readonly Product[]
  /** Closure of the account. */
  closure?: ClosureTimes | undefined
  /** Its link was shown in the answer to the request for it (LOGIN_ECHO): it proves no address, and reaches the sandbox only. */
  isSandboxOnly: boolean
  /** Idle, too old, signed out, or its user is gone. */
  hasEnded: boolean
  /** When the user's account was suspended. */
  suspendedAt: Date | undefined
}

/** What the database knows of a directory's token, revoked or not. */
export interface DirectoryRow {
  tokenId: string
  accountId: string
  plan: Plan
  products: readonly Product[]
  /** Closure of the account. */
  closure?: ClosureTimes | undefined
  suspendedAt: Date | undefined
  isRevoked: boolean
}

/** @param token Of the Authorization header. */
export type FindDirectory = (token: string) => Promise<DirectoryRow | undefined>

/** @param secret Of the session cookie. */
export type FindSession = (secret: string) => Promise<SessionRow | undefined>

/** @param address Of the caller: a refused request is no use of the key. */
export type FindKey = (rawKey: string, address: string) => Promise<KeyRow | undefined>

// Our keys have 41 characters; a configured key may be longer.
const MAX_KEY_LENGTH = 256
// A revoked key is a row to read, an unknown one is not: a twentieth of a millisecond that would tell a guess from a miss.
const REFUSED_AFTER_MS = 5
// RFC 6750 2.1, wider: every printable value is looked up, and not found.
const BEARER = /^bearer +([\x21-\x7e]+)$/i
const SCOPED_ID = /^[a-z]{3}_(test|live)_[0-7][0-9a-hjkmnp-tv-z]{25}$/

interface AuthenticatorDeps {
  findKey: FindKey
  /** Without it no session is known. */
  findSession?: FindSession | undefined
  /** Without it no token of a directory is known. */
  findDirectory?: FindDirectory | undefined
  cookies: SessionCookies
  clientAddress: (req: IncomingMessage) => string
  /** Counts an unknown key or session. Throws `rate_limited` when the address has sent too many. */
  countGuess?: (address: string) => Promise<void>
  now?: () => Date
}

/** One request to a route, as far as access depends on it. */
export interface Visit {
  req: IncomingMessage
  route: Pick<
    Route,
    | 'method'
    | 'effect'
    | 'scope'
    | 'takesAnyKey'
    | 'takesDirectory'
    | 'permission'
    | 'isAccountLevel'
    | 'needsAccountKey'
    | 'plan'
    | 'isEmergency'
    | 'isOpenWhenClosed'
    | 'products'
  >
  /** Parameters of the path. */
  params: Record<string, string>
  /** Called with the principal before its access is decided. Not called for publishable keys, which are public. */
  onKnown?: (by: Refused) => void
}

/**
 * @throws {Failure} `invalid_request` (two different keys, unknown environment), `authentication_required`,
 * `invalid_api_key`, `api_key_revoked`, `api_key_expired`, `account_suspended`, `ip_not_allowed`, `session_expired`,
 * `csrf_token_invalid`, and what `authorize` throws.
 */
export function createAuthenticator({
  findKey,
  findSession = async () => undefined,
  findDirectory = async () => undefined,
  cookies,
  clientAddress,
  countGuess = async () => {},
  now = () => new Date(),
}: AuthenticatorDeps) {
  return async (visit: Visit): Promise<Caller> => {
    const { req } = visit
    if (visit.route.takesDirectory === true) return byDirectory(visit)
    // A key is sent on purpose, a cookie by the browser.
    const hasKey = req.headers.authorization !== undefined || req.headers['x-api-key'] !== undefined
    const secret = hasKey ? undefined : cookies.read(req)
    const origin = { ip: clientAddress(req), userAgent: req.headers['user-agent'] ?? null }
    const caller =
      secret === undefined
        ? await failsNoEarlier(REFUSED_AFTER_MS, () => byKey(visit, origin))
        : await bySession(visit, secret, origin)
    if (caller.isAccountBearing) visit.onKnown?.(caller)
    authorize(visit, caller)
    return caller
  }

  async function byKey({ req, onKnown }: Visit, origin: Origin): Promise<Caller> {
    const row = await findKey(readKey(req), origin.ip)
    if (row === undefined) {
      // After the look-up: a valid key is answered, whatever else its address sends.
      await countGuess(origin.ip)
      throw unknownKey()
    }
    const { keyId, scopes, accountId, environment, isAccountBearing, plan, products } = row
    const { narrowedTo, isReadOnly = false } = row
    const principal = { kind: 'key', keyId, scopes, products: narrowedTo, isReadOnly } as const
    if (isAccountBearing) onKnown?.({ accountId, environment, principal, origin })
    try {
      checkKey(row, origin, now())
    } catch (refusal) {
      note({ account: row.accountId, key: row.keyId })
      throw refusal
    }
    return {
      accountId,
      environment,
      principal,
      isAccountBearing,
      plan,
      products,
      origin,
    }
  }

  async function byDirectory(visit: Visit): Promise<Caller> {
    const { req, onKnown } = visit
    const origin = { ip: clientAddress(req), userAgent: req.headers['user-agent'] ?? null }
    const [sent, ...others] = req.headersDistinct.authorization ?? []
    const token = others.length === 0 ? BEARER.exec(sent?.trim() ?? '')?.[1] : undefined
    if (token === undefined) {
      throw unauthenticated('Send the token of your directory: "Authorization: Bearer <TOKEN>".')
    }
    const row = await failsNoEarlier(REFUSED_AFTER_MS, async () => {
      const found = token.length > MAX_KEY_LENGTH ? undefined : await findDirectory(token)
      if (found === undefined) await countGuess(origin.ip)
      if (found === undefined || found.isRevoked) {
        throw new Failure('invalid_api_key', 'This is not the token of a directory, or it was revoked.')
      }
      return found
    })
    const { accountId, tokenId, plan, products } = row
    const principal = { kind: 'directory', tokenId } as const
    onKnown?.({ accountId, principal, origin })
    checkSuspension(row)
    checkOpen(row.closure, { isAllowed: false, now: now() })
    const caller = {
      accountId,
      environment: 'live',
      principal,
      isAccountBearing: true,
      plan,
      products,
      origin,
    } as const
    authorize(visit, caller)
    return caller
  }

  async function bySession(visit: Visit, secret: string, origin: Origin): Promise<Caller> {
    const { req, route, params, onKnown } = visit
    const row = await findSession(secret)
    if (row === undefined) await countGuess(origin.ip)
    if (row === undefined || row.hasEnded) {
      throw new Failure('session_expired', 'This session has ended: sign in again.')
    }
    checkSuspension(row)
    const { sessionId, userId, role, isSandboxOnly, accountId, plan, products, closure } = row
    const principal = { kind: 'session', sessionId, userId, role, isSandboxOnly } as const
    onKnown?.({ accountId, principal, origin })
    if (route.method !== 'GET') cookies.check(req, sessionId)
    const isOwnOrOwner = role === 'owner' || route.permission === WHATEVER_THE_ACCOUNT
    const isAllowed = isOwnOrOwner && (route.method === 'GET' || route.isOpenWhenClosed === true)
    checkOpen(closure, { isAllowed, now: now() })
    return {
      accountId,
      environment: environmentOf(req, route, params),
      principal,
      isAccountBearing: true,
      plan,
      products,
      origin,
    }
  }
}

function checkKey(row: KeyRow, { ip }: Origin, now: Date): void {
  if (row.revokedAt !== undefined) {
    throw new Failure('api_key_revoked', `This API key was revoked at ${row.revokedAt.toISOString()}.`)
  }
  if (row.expiresAt !== undefined && row.expiresAt <= now) {
    throw new Failure('api_key_expired', `This API key expired at ${row.expiresAt.toISOString()}.`)
  }
  checkSuspension(row)
  checkOpen(row.closure, { isAllowed: false, now })
  if (row.ipAllow !== undefined && !isListed(ip, row.ipAllow)) {
    throw new Failure('ip_not_allowed', `This API key is not accepted from the address ${ip}.`)
  }
}

// An <img> of a dashboard can't send a header, so on GET the id itself names the environment.
function environmentOf(req: IncomingMessage, route: Visit['route'], params: Record<string, string>): Environment {
  const named = req.headers['service-environment']
  if (named === undefined) {
    const words = new Set(Object.values(params).map(wordOf))
    return route.method === 'GET' && words.has('live') && !words.has('test') ? 'live' : 'sandbox'
  }
  if (named === 'sandbox' || named === 'live') return named
  throw new Failure('invalid_request', {
    detail: 'The header Service-Environment must be sandbox or live.',
    errors: [{ pointer: 'Service-Environment', code: 'invalid_value', detail: 'must be sandbox or live' }],
  })
}

function wordOf(value: string): string | undefined {
  return SCOPED_ID.exec(value)?.[1]
}

/**
 * @throws {Failure} `environment_mismatch`, `session_required`, `insufficient_scope`, `key_read_only`, `insufficient_role`,
 * `account_key_required`, `plan_required`.
 */
function authorize({ route, params }: Pick<Visit, 'route' | 'params'>, caller: Caller): void {
  checkEnvironment(route, caller, params)
  const { principal } = caller
  if (principal.kind === 'session') checkRole(route, principal.role, caller)
  else if (principal.kind === 'directory') checkDirectory(route)
  else if (route.takesAnyKey !== true) checkScope(route, principal)
  if (route.needsAccountKey === true && !caller.isAccountBearing) {
    throw new Failure(
      'account_key_required',
      'The publishable sandbox keys share one account and can not do this: use a key of an account of your own.',
    )
  }
  if (route.plan !== undefined && caller.plan !== route.plan) throw lackingPlan(`This needs the plan ${route.plan}.`)
}

/** Whether a caller who was let in by another route may call this one, as far as its path does not decide it. */
export function mayCall(route: Visit['route'], caller: Caller): boolean {
  try {
    authorize({ route, params: {} }, caller)
    return true
  } catch (refusal) {
    if (refusal instanceof Failure) return false
    throw refusal
  }
}

function checkDirectory(route: Visit['route']): void {
  if (route.takesDirectory !== true) throw new Error('the token of a directory is read by routes of directories only')
}

function checkScope(route: Visit['route'], principal: Extract<Caller['principal'], { kind: 'key' }>): void {
  if (route.scope === undefined) {
    throw new Failure('session_required', 'This takes a session of a signed-in user, and no API key.')
  }
  if (!hasScope(principal, route.scope)) {
    throw new Failure('insufficient_scope', {
      detail: `This API key lacks the scope "${route.scope}"; it has ${principal.scopes.join(', ')}.`,
      members: { required_scope: route.scope },
    })
  }
  checkProducts(principal, route)
  if (principal.isReadOnly === true && route.effect !== 'read') {
    throw new Failure('key_read_only', 'This API key only reads, and this would change something: use another key.')
  }
}

function checkEnvironment(route: Visit['route'], { environment, principal }: Caller, params: Record<string, string>) {
  const word = environment === 'live' ? 'live' : 'test'
  if (principal.kind === 'directory') return
  const isSession = principal.kind === 'session'
  for (const value of Object.values(params)) {
    const named = wordOf(value)
    if (named !== undefined && named !== word) {
      throw new Failure(
        'environment_mismatch',
        isSession
          ? `The id is of the ${named} environment, and the request is for the other one: see the header Service-Environment.`
          : `The id is of the ${named} environment, and this is a ${word} key: use a key that begins with svc_${named}_.`,
      )
    }
  }
  const isOpen = route.method === 'GET' && route.permission !== undefined && isSeenFromSandbox(route.permission)
  const isOfWhole = route.isAccountLevel === true && !isOpen
  if (isSession && principal.isSandboxOnly && (environment === 'live' || isOfWhole)) {
    throw new Failure(
      'environment_mismatch',
      'The link of this session was shown and not mailed, so it reaches the sandbox only: sign in with a mailed link, or with one that ' +
        'the operator prints.',
    )
  }
  // What live data depend on must not be changed with a sandbox key, nor what a role may not read be read with one.
  if (!isSession && isOfWhole && environment === 'sandbox' && route.scope !== undefined) {
    throw new Failure('environment_mismatch', 'This is about the whole account: use a live key, or sign in.')
  }
}

function checkRole(route: Visit['route'], role: Role, { plan, environment }: Caller): void {
  if (role !== 'owner' && plan !== 'enterprise' && route.permission !== WHATEVER_THE_ACCOUNT) {
    throw lackingPlan('Users other than the owner need the plan enterprise, which this account no longer has.')
  }
  const allowed = route.permission === undefined ? [] : rolesWith(route.permission, environment)
  if (allowed.includes(role)) return
  throw new Failure('insufficient_role', {
    detail:
      allowed.length === 0
        ? `This request takes an API key with the scope "${route.scope}", and no session.`
        : `Your role is ${role}, and this needs ${allowed.join(' or ')}.`,
    members: { allowed },
  })
}

function lackingPlan(detail: string): Failure {
  return new Failure('plan_required', { detail, members: { required_plan: 'enterprise' } })
}

/**
 * Reads every place where a key may stand, including repeated headers: a proxy in front may use a different one than we
 * would. Exported for tests.
 */
export function readKey(req: Pick<IncomingMessage, 'headersDistinct'>): string {
  const keys = new Set<string>()
  for (const value of req.headersDistinct.authorization ?? []) {
    const match = BEARER.exec(value.trim())
    if (match?.[1] === undefined) throw unauthenticated('The Authorization header must be "Bearer <API_KEY>".')
    keys.add(match[1])
  }
  for (const value of req.headersDistinct['x-api-key'] ?? []) {
    if (value.trim() === '') throw unauthenticated('The X-API-Key header is empty.')
    keys.add(value.trim())
  }
  const [key] = keys
  if (key === undefined) {
    throw unauthenticated('Send an API key: "Authorization: Bearer <API_KEY>" or "X-API-Key: <API_KEY>".')
  }
  if (keys.size > 1) {
    throw new Failure('invalid_request', {
      detail: 'The request carries two different API keys.',
      errors: [
        { pointer: 'X-API-Key', code: 'conflicting_keys', detail: 'must be the key of the Authorization header' },
      ],
    })
  }
  if (key.length > MAX_KEY_LENGTH) throw unknownKey()
  return key
}

function unknownKey(): Failure {
  return new Failure(
    'invalid_api_key',
    'The service does not know this API key. Compare it with its source: each deployment has its own keys.',
  )
}

function unauthenticated(detail: string): Failure {
  return new Failure('authentication_required', detail)
}
