// Single sign-on and directories as their callers see them: a login without the provider's own time, a thousand users pushed within the
// limits of production, a page of a long list, and what a provider in trouble costs the logins of another account.

import { setTimeout as delay } from 'node:timers/promises'
import { createKeys } from '#src/account/keys/keys.ts'
import { type HostileProvider, startHostileProvider } from '../test/account/sso/hostile-provider.ts'
import { judgeLimit, type Options, percentile, type Verdict } from './harness.ts'
import { type Process, startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'

const LOGINS = 200
const PUSHED = 1_000
const PUSHES_AT_ONCE = 4
const LISTED = 10_000
const PAGES = 50
const TROUBLED_LOGINS = 8
const MAX_LOGIN_MS = 150
const MAX_PUSH_SECONDS = 60
const MAX_PAGE_MS = 50
const MAX_DELAY_MS = 50

interface Organization {
  accountId: string
  key: string
  domain: string
}

export async function runSso(options: Options): Promise<Verdict[]> {
  const stack = new AsyncDisposableStack()
  try {
    const stage = await openStage()
    stack.defer(() => stage.close())
    const environment = { ...stage.environment, TRUSTED_PROXIES: '127.0.0.1' }
    const web = await startProcess('workers/web.ts', environment, options)
    stack.defer(() => web.stop())
    // With the limits of production.
    const limited = await startProcess('workers/web.ts', { ...environment, RATE_LIMIT_FACTOR: '1' }, options)
    stack.defer(() => limited.stop())
    const provider = await startTimedProvider()
    stack.defer(() => provider.close())
    const wants = (part: string) => options.part === undefined || options.part === part
    return [
      ...(wants('login') ? [await measureLogins(stage, web, provider, options)] : []),
      ...(wants('scim') ? await measureDirectory(stage, { web, limited, provider }, options) : []),
      ...(wants('hanging') ? [await measureTrouble(stage, web, { provider, trouble: 'hanging' }, options)] : []),
      ...(wants('refusing') ? [await measureTrouble(stage, web, { provider, trouble: 'refusing' }, options)] : []),
    ]
  } finally {
    await stack.disposeAsync()
  }
}

interface TimedProvider extends HostileProvider {
  /** The provider's own time since it was last asked, in milliseconds. */
  takeMs(): number
  /** The next code is answered with an ID token of this login. */
  next(login: { nonce: string; sub: string; email: string }): Promise<void>
}

async function startTimedProvider(): Promise<TimedProvider> {
  const provider = await startHostileProvider()
  let ms = 0
  return {
    ...provider,
    takeMs() {
      const taken = ms
      ms = 0
      return taken
    },
    async next(login) {
      // Signing is the provider's time, too: it is done before the code is sent.
      const idToken = await provider.token(login)
      provider.answers.token = (_req, res) => {
        const startedAt = performance.now()
        res.writeHead(200, { 'Content-Type': 'application/json' })
        res.end(JSON.stringify({ access_token: 'x', token_type: 'bearer', id_token: idToken }))
        ms += performance.now() - startedAt
      }
    },
  }
}

let organizations = 0
async function connect(stage: Stage, web: Process, provider: Pick<HostileProvider, 'issuer'>): Promise<Organization> {
  organizations += 1
  const domain = `bench${organizations}.example`
  const { accountId } = await stage.addAccount()
  const { key } = await createKeys({ db: stage.db }).create(
    { accountId, environment: 'live' },
    { name: 'bench', scopes: ['admin'] },
  )
  const config = { issuer: provider.issuer, client_id: 'client', client_secret: 'a secret of this bench', domain }
  await ask(web, { method: 'PUT', path: '/v1/auth/sso/config', key, body: config })
  await stage.owner('UPDATE sso_configs SET verified_at = now(), checked_at = now() WHERE account_id = $1', [accountId])
  return { accountId, key, domain }
}

async function login(web: Process, { domain }: Organization, provider: TimedProvider, name: string): Promise<number> {
  const headers = { Accept: 'application/json', 'X-Forwarded-For': addressOf() }
  const startedAt = performance.now()
  const start = await ask(web, { path: `/v1/auth/sso/start?domain=${domain}`, headers })
  let ms = performance.now() - startedAt
  const url = new URL(String(start.json.authorize_url))
  const [state = '', nonce = ''] = ['state', 'nonce'].map((parameter) => url.searchParams.get(parameter) ?? '')
  await provider.next({ nonce, sub: name, email: `${name}@${domain}` })
  provider.takeMs()
  const sentAt = performance.now()
  await ask(web, {
    method: 'POST',
    path: '/v1/auth/sso/callback',
    headers: { ...headers, Cookie: start.cookie },
    body: { code: 'a code', state },
  })
  ms += performance.now() - sentAt - provider.takeMs()
  return ms
}

async function measureLogins(stage: Stage, web: Process, provider: TimedProvider, { isQuick, rounds }: Options) {
  const org = await connect(stage, web, provider)
  await login(web, org, provider, 'warm')
  const medians: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const times: number[] = []
    for (let n = 0; n < (isQuick ? 10 : LOGINS); n += 1)
      times.push(await login(web, org, provider, `r${round}-${n % 50}`))
    medians.push(percentile(times, 50))
  }
  return judgeLimit({
    name: 'sso, login',
    label: 'start and callback without the time of the provider, p50',
    unit: 'ms',
    values: medians,
    max: MAX_LOGIN_MS,
  })
}

async function measureDirectory(
  stage: Stage,
  { web, limited, provider }: { web: Process; limited: Process; provider: TimedProvider },
  { isQuick }: Options,
): Promise<Verdict[]> {
  const org = await connect(stage, web, provider)
  const { json } = await ask(web, { method: 'POST', path: '/v1/auth/scim-tokens', key: org.key })
  const token = String(json.token)
  const count = isQuick ? 50 : PUSHED
  let next = 0
  const push = async () => {
    for (let n = next++; n < count; n = next++) {
      const body = { userName: `user${n}@${org.domain}`, name: { givenName: 'U', familyName: `${n}` }, active: true }
      await askPatiently(limited, { method: 'POST', path: '/v1/scim/v2/Users', key: token, body })
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: PUSHES_AT_ONCE }, push))
  const seconds = (performance.now() - startedAt) / 1_000

  const long = await connect(stage, web, provider)
  const created = await ask(web, { method: 'POST', path: '/v1/auth/scim-tokens', key: long.key })
  await stage.owner(
    `INSERT INTO users (account_id, id, email, role)
     SELECT $1, 'usr_' || lpad(n::text, 26, '0'), 'user' || n || '@' || $2, 'analyst' FROM generate_series(1, $3::int) n`,
    [long.accountId, long.domain, isQuick ? 1_000 : LISTED],
  )
  await stage.owner('ANALYZE users')
  const times: number[] = []
  for (let page = 0; page < PAGES; page += 1) {
    const path = `/v1/scim/v2/Users?startIndex=${page * 200 + 1}&count=200`
    const sentAt = performance.now()
    await ask(web, { path, key: String(created.json.token) })
    times.push(performance.now() - sentAt)
  }
  return [
    judgeLimit({
      name: 'sso, push',
      label: `${count} users by SCIM, ${PUSHES_AT_ONCE} at a time, with the limits of production`,
      unit: 's',
      values: [seconds],
      max: MAX_PUSH_SECONDS,
    }),
    judgeLimit({
      name: 'sso, page',
      label: `a page of 200 out of ${isQuick ? 1_000 : LISTED} users, p50`,
      unit: 'ms',
      values: [percentile(times, 50)],
      max: MAX_PAGE_MS,
      beside: `p99 ${percentile(times, 99).toFixed(1)} ms`,
    }),
  ]
}

/** What a login at the provider of another account meets. */
const TROUBLES = {
  hanging: {
    meets: 'a provider that hangs',
    of: (provider: HostileProvider) => {
      provider.answers.discovery = () => {}
    },
  },
  refusing: {
    meets: 'a provider that refuses their secret',
    of: (provider: HostileProvider) => {
      provider.answers.token = (_req, res) => void res.writeHead(401).end('{"error":"invalid_client"}')
    },
  },
} as const

/** The floor: the same logins and reads of one account, without people of another whose provider is in trouble. */
async function measureTrouble(
  stage: Stage,
  web: Process,
  { provider, trouble }: { provider: TimedProvider; trouble: keyof typeof TROUBLES },
  { isQuick, rounds }: Options,
) {
  await using stack = new AsyncDisposableStack()
  const troubled = await startHostileProvider()
  stack.defer(() => troubled.close())
  const own = await connect(stage, web, provider)
  const other = await connect(stage, web, troubled)
  await login(web, own, provider, 'warm')
  const observe = async () => {
    const times: number[] = []
    for (let n = 0; n < (isQuick ? 10 : LOGINS); n += 1) {
      times.push(await login(web, own, provider, `h${n % 50}`))
      const startedAt = performance.now()
      await ask(web, { path: '/v1/org/users', key: own.key })
      times.push(performance.now() - startedAt)
    }
    return percentile(times, 99)
  }
  TROUBLES[trouble].of(troubled)
  const differences: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const calm = await observe()
    const ending = new AbortController()
    const loops = Array.from({ length: TROUBLED_LOGINS }, async () => {
      while (!ending.signal.aborted) await failToLogIn(web, other, ending.signal).catch(() => undefined)
    })
    await delay(1_000)
    differences.push((await observe()) - calm)
    ending.abort()
    await Promise.all(loops)
  }
  return judgeLimit({
    name: `sso, ${trouble}`,
    label: `p99 of logins and reads of another account beside ${TROUBLED_LOGINS} logins at ${TROUBLES[trouble].meets}, more than without`,
    unit: 'ms',
    values: differences,
    max: MAX_DELAY_MS,
  })
}

async function failToLogIn(web: Process, { domain }: Organization, signal: AbortSignal): Promise<void> {
  const headers = { Accept: 'application/json', 'X-Forwarded-For': addressOf() }
  const started = await fetch(addressAt(web, `/v1/auth/sso/start?domain=${domain}`), { headers, signal })
  const { authorize_url: url } = (await started.json()) as { authorize_url?: string }
  if (url === undefined) return
  const answer = await fetch(addressAt(web, '/v1/auth/sso/callback'), {
    method: 'POST',
    headers: {
      ...headers,
      'Content-Type': 'application/json',
      Cookie: started.headers.getSetCookie()[0]?.split(';')[0] ?? '',
    },
    body: JSON.stringify({ code: 'a code', state: new URL(url).searchParams.get('state') }),
    signal,
  })
  await answer.arrayBuffer()
}

interface Asked {
  method?: string
  path: string
  key?: string
  headers?: Record<string, string>
  body?: object
}

async function ask(web: Process, asked: Asked): Promise<{ json: Record<string, unknown>; cookie: string }> {
  const { answer, text } = await send(web, asked)
  if (!answer.ok) throw new Error(`${asked.path} answers ${answer.status}: ${text}`)
  const cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0] ?? '')
    .join('; ')
  return { json: JSON.parse(text), cookie }
}

/** Works as a directory does: after a 429 once more. */
async function askPatiently(web: Process, asked: Asked): Promise<void> {
  for (;;) {
    const { answer, text } = await send(web, asked)
    if (answer.ok) return
    if (answer.status !== 429 && answer.status !== 503)
      throw new Error(`${asked.path} answers ${answer.status}: ${text}`)
    await delay(1_000 * Number(answer.headers.get('retry-after') ?? 1))
  }
}

async function send(web: Process, { method = 'GET', path, key, headers = {}, body }: Asked) {
  const answer = await fetch(addressAt(web, path), {
    method,
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { answer, text: await answer.text() }
}

const addressAt = (web: Process, path: string) => `http://127.0.0.1:${web.port}${path}`

let clients = 0
/** Each login comes from a network of its own: limits count by network. */
function addressOf(): string {
  clients += 1
  return `198.${18 + (clients >> 16)}.${(clients >> 8) % 256}.${clients % 256}`
}
