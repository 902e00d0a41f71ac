// One identity provider: its discovery and keys, kept for minutes, and the exchange of a code. Calls of an account are bounded, so
// that a provider that hangs costs other accounts nothing.

import type { JSONWebKeySet } from 'jose'
import { LRUCache } from 'lru-cache'
import type * as Client from 'openid-client'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import type { Outbound } from '#src/platform/net/outbound.ts'
import { type AskProvider, createAskProvider } from './ask-provider.ts'
import { discover, type ProviderMetadata, parseObject } from './discovery.ts'
import { type IdTokenClaims, verifyIdToken } from './id-token.ts'
import { LoginRefused, ownErrorOf, ProviderError } from './problems.ts'

/** A provider as its account configured it. */
export interface Provider {
  accountId: string
  /** Changes with issuer and client. */
  generation: number
  issuer: string
  clientId: string
}

export interface CodeExchange {
  clientSecret: string
  redirectUri: string
  code: string
  /** RFC 9207. */
  iss: string | undefined
  nonce: string
  verifier: string
}

/** Who the provider says has signed in. */
export interface Identity {
  subject: string
  email: unknown
  emailVerified: unknown
}

interface Kept {
  metadata: ProviderMetadata
  keys: JSONWebKeySet | undefined
  /** When the key set was read. */
  readAt: number
  /** When an unknown key had it read again. */
  lookedAt: number | undefined
  madeAt: number
}

const METADATA_MS = 10 * 60_000
const KEYS_MS = 5 * 60_000
// A token with an unknown key has the key set read again, this often at most: anybody can name unknown keys.
const LOOK_AGAIN_MS = 60_000
const MAX_KEPT = 1_000

const EXCHANGES = {
  slots: 16,
  slotsEach: 4,
  maxWaitingEach: 100,
  maxWaiting: 1_000,
  maxWaitMs: 5_000,
  refusal: { detail: 'Too many people of this organization sign in at this moment. Try again.', retryAfterSeconds: 2 },
}

interface ProvidersDeps {
  outbound: Pick<Outbound, 'send'>
  now: () => Date
  /** Milliseconds of a clock that never goes back. */
  elapsed?: () => number
}

export type Providers = ReturnType<typeof createProviders>

export function createProviders({ outbound, now, elapsed = () => performance.now() }: ProvidersDeps) {
  const kept = new LRUCache<string, Kept>({ max: MAX_KEPT })
  const withSlot = createFairSemaphore(EXCHANGES)
  // A dozen modules, loaded at the first login.
  let library: typeof Client | undefined

  /** The provider's own address of logins. @throws {ProviderError} and what `discover` throws. */
  async function authorizeUrl(
    provider: Provider,
    login: { redirectUri: string; state: string; nonce: string; challenge: string },
  ): Promise<string> {
    const { metadata } = await withSlot(provider.accountId, () => find(provider))
    const url = new URL(metadata.authorization_endpoint)
    const parameters = {
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: login.redirectUri,
      scope: 'openid email profile',
      state: login.state,
      nonce: login.nonce,
      code_challenge: login.challenge,
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    return url.href
  }

  /** Redeems a code. @throws {LoginRefused | ProviderError} */
  async function exchange(provider: Provider, wanted: CodeExchange): Promise<Identity> {
    return withSlot(provider.accountId, async () => {
      const found = await find(provider)
      checkIss(found.metadata, wanted.iss)
      return redeem(provider, found, wanted)
    })
  }

  /** Reads the discovery document anew, for a configuration that is being changed. */
  async function check(provider: Provider): Promise<void> {
    const read = () => discover(provider.issuer, createAskProvider(outbound, provider.accountId))
    await withSlot(provider.accountId, read)
  }

  return { authorizeUrl, exchange, check }

  async function find(provider: Provider): Promise<Kept> {
    const name = `${provider.accountId} ${provider.generation}`
    const known = kept.get(name)
    if (known !== undefined && elapsed() - known.madeAt < METADATA_MS) return known
    const metadata = await discover(provider.issuer, createAskProvider(outbound, provider.accountId))
    const made: Kept = { metadata, keys: undefined, readAt: 0, lookedAt: undefined, madeAt: elapsed() }
    kept.set(name, made)
    return made
  }

  async function redeem(provider: Provider, found: Kept, wanted: CodeExchange): Promise<Identity> {
    const { metadata } = found
    let token: Record<string, unknown> | undefined
    const ask = createAskProvider(outbound, provider.accountId, (url, body) => {
      if (url === metadata.token_endpoint) token = parseObject(body.toString())
    })
    library ??= await import('openid-client')
    const client = library
    const configuration = configurationOf(client, metadata, provider, wanted.clientSecret)
    configuration[client.customFetch] = ask as Client.CustomFetch
    const keys = await readKeys(found, ask, KEYS_MS)
    client.setJwksCache(configuration, {
      jwks: keys as Client.ExportedJWKSCache['jwks'],
      uat: Math.floor(Date.now() / 1_000),
    })
    const current = new URL(wanted.redirectUri)
    current.searchParams.set('code', wanted.code)
    if (wanted.iss !== undefined) current.searchParams.set('iss', wanted.iss)
    const checks = { pkceCodeVerifier: wanted.verifier, expectedNonce: wanted.nonce, idTokenExpected: true }
    let failed: unknown
    try {
      await client.authorizationCodeGrant(configuration, current, checks)
    } catch (error) {
      failed = error
    }
    const idToken = token?.id_token
    if (typeof idToken !== 'string') throw exchangeErrorOf(client, failed)
    const claims = await verify(provider, found, idToken, wanted.nonce)
    // With a key set that changed since, its own look finds no key, and ours did.
    if (failed !== undefined && !isKeyUnknown(failed)) throw ownErrorOf(failed) ?? invalidToken()
    return identityOf(claims, async () => {
      const accessToken = token?.access_token
      if (metadata.userinfo_endpoint === undefined || typeof accessToken !== 'string') return undefined
      return readUserInfo(metadata.userinfo_endpoint, accessToken, ask)
    })
  }

  async function verify(provider: Provider, found: Kept, idToken: string, nonce: string): Promise<IdTokenClaims> {
    const ask = createAskProvider(outbound, provider.accountId)
    const expected = { issuer: provider.issuer, clientId: provider.clientId, nonce, at: now() }
    const keys = await readKeys(found, ask, KEYS_MS)
    try {
      return await verifyIdToken(idToken, keys, expected)
    } catch (error) {
      if (!(error instanceof LoginRefused && error.refusal === 'key_unknown')) throw error
      const others = await lookAgain(found, ask)
      return verifyIdToken(idToken, others, expected)
    }
  }

  /** The key set as it is now, which may have a new key; the kept one, where another token had it read lately. */
  async function lookAgain(found: Kept, ask: AskProvider): Promise<JSONWebKeySet> {
    const isAllowed = found.lookedAt === undefined || elapsed() - found.lookedAt >= LOOK_AGAIN_MS
    if (isAllowed) found.lookedAt = elapsed()
    return readKeys(found, ask, isAllowed ? 0 : KEYS_MS)
  }

  /** The key set that was kept, unless it is older than this. */
  async function readKeys(found: Kept, ask: AskProvider, maxAgeMs: number): Promise<JSONWebKeySet> {
    if (found.keys !== undefined && elapsed() - found.readAt < maxAgeMs) return found.keys
    const answer = await ask(found.metadata.jwks_uri, { headers: { accept: 'application/json' } })
    if (answer.status !== 200) throw new ProviderError('invalid_answer', `its key set has the status ${answer.status}`)
    const { keys } = parseObject(await answer.text())
    if (!Array.isArray(keys)) throw new ProviderError('invalid_answer', 'its key set has no keys')
    const usable = keys.filter((key) => typeof key === 'object' && key !== null)
    found.keys = { keys: usable } as JSONWebKeySet
    found.readAt = elapsed()
    return found.keys
  }
}

function configurationOf(
  client: typeof Client,
  metadata: ProviderMetadata,
  { clientId }: Provider,
  clientSecret: string,
): Client.Configuration {
  const methods = metadata.token_endpoint_auth_methods_supported
  const takesBasic = methods === undefined || methods.includes('client_secret_basic')
  const authentication = takesBasic ? client.ClientSecretBasic(clientSecret) : client.ClientSecretPost(clientSecret)
  const { token_endpoint_auth_methods_supported: _methods, ...server } = metadata
  const configuration = new client.Configuration(server, clientId, {}, authentication)
  // Without it signatures of ID tokens are not checked: they came by TLS.
  client.enableNonRepudiationChecks(configuration)
  // http is refused by our own ask, but for a provider on this machine.
  client.allowInsecureRequests(configuration)
  return configuration
}

// RFC 9207 2.4: before the code is sent anywhere.
function checkIss(metadata: ProviderMetadata, iss: string | undefined): void {
  const isMissing = iss === undefined && metadata.authorization_response_iss_parameter_supported
  if (isMissing || (iss !== undefined && iss !== metadata.issuer)) {
    throw new LoginRefused('provider_mixed_up', 'another identity provider answered than the one that was asked')
  }
}

/** The error of a token request that brought no ID token. */
function exchangeErrorOf(client: typeof Client, error: unknown): Error {
  const own = ownErrorOf(error)
  if (own !== undefined) return own
  if (error instanceof client.ResponseBodyError) {
    if (error.error === 'invalid_client' || error.error === 'unauthorized_client') return clientRefused()
    if (error.error === 'invalid_grant') {
      return new LoginRefused(
        'code_refused',
        'the identity provider does not take the code: it was used, or is too old',
      )
    }
  }
  if (error instanceof client.WWWAuthenticateChallengeError) return clientRefused()
  return new ProviderError('invalid_answer', 'its answer to the code is none of OpenID Connect')
}

function clientRefused(): LoginRefused {
  return new LoginRefused(
    'client_refused',
    'the identity provider does not take the client id and secret of the configuration',
  )
}

function invalidToken(): LoginRefused {
  return new LoginRefused('token_invalid', 'the ID token is not as OpenID Connect demands')
}

function isKeyUnknown(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'OAUTH_KEY_SELECTION_FAILED'
}

// Only `email` is an address: `preferred_username`, `upn` and `sub` may be anybody's.
async function identityOf(
  claims: IdTokenClaims,
  userInfo: () => Promise<Record<string, unknown> | undefined>,
): Promise<Identity> {
  if (claims.email !== undefined) {
    return { subject: claims.sub, email: claims.email, emailVerified: claims.email_verified }
  }
  const info = await userInfo()
  // OpenID Connect 5.3.2: another subject's answer must not be used.
  const isSame = info !== undefined && info.sub === claims.sub
  return {
    subject: claims.sub,
    email: isSame ? info.email : undefined,
    emailVerified: isSame ? info.email_verified : undefined,
  }
}

async function readUserInfo(
  url: string,
  accessToken: string,
  ask: AskProvider,
): Promise<Record<string, unknown> | undefined> {
  const answer = await ask(url, { headers: { accept: 'application/json', authorization: `Bearer ${accessToken}` } })
  if (answer.status !== 200) return undefined
  const text = await answer.text()
  // A signed answer is not read.
  return (answer.headers.get('content-type') ?? '').startsWith('application/json') ? parseObject(text) : undefined
}
