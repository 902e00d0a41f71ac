import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAccountId } from '#src/platform/ids.ts'
import { browserOf } from '../login/service.ts'
import { type Directory, type ScimService, startScimService, USER } from './service.ts'

let service: ScimService
let directory: Directory
beforeAll(async () => {
  service = await startScimService()
  directory = await service.makeDirectory()
})
afterAll(() => service?.close())

const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'
const error = (status: number, scimType?: string) => ({
  status,
  headers: { 'content-type': 'application/scim+json' },
  json: { schemas: [ERROR], status: String(status), ...(scimType !== undefined && { scimType }) },
})

interface Step {
  name: string
  method: string
  path: string
  body?: unknown
  status: number
  members?: object
  saves?: string
}

describe.each(['okta', 'entra'])('the requests of %s', (name) => {
  it('are answered as it documents', async () => {
    const own = await service.makeDirectory()
    const file = join(import.meta.dirname, 'fixtures', `${name}.json`)
    const { steps }: { steps: Step[] } = JSON.parse(readFileSync(file, 'utf8'))
    const saved: Record<string, string> = { domain: own.domain }
    const filled = <V>(value: V): V =>
      JSON.parse(JSON.stringify(value).replaceAll(/\{([a-z]+)\}/g, (all, key) => saved[key] ?? all))
    expect(steps.length).toBeGreaterThan(10)
    for (const step of steps) {
      const body = step.body === undefined ? undefined : filled(step.body)
      const answer = await own.send(step.method, filled({ path: step.path }).path, body)
      expect([step.name, answer.status]).toEqual([step.name, step.status])
      if (step.members !== undefined) {
        expect(answer.json, step.name).toMatchObject(filled(step.members))
        expect(answer.headers['content-type']).toBe('application/scim+json')
      }
      if (step.saves !== undefined) saved[step.saves] = String(answer.json.id)
    }
  })
})

describe('a token of a directory', () => {
  it('is shown once, two are live, calls SCIM alone, and is refused as soon as it is revoked', async () => {
    const own = await service.makeDirectory()
    const create = () => service.send(own.owner, 'POST', '/v1/auth/scim-tokens')
    const second = await create()
    expect(second.json.token).toMatch(/^svc_scim_[\w-]{43}$/)
    expect(await create()).toMatchObject({ status: 409, json: { code: 'limit_reached', maximum: 2 } })
    expect((await own.send('GET', '/Users')).status).toBe(200)
    await service.services.account.directoryTokens.settle()
    const { json, text } = await service.send(own.owner, 'GET', '/v1/auth/scim-tokens')
    expect(text).not.toContain(own.token)
    expect(json.data).toMatchObject([
      { last4: String(second.json.token).slice(-4), last_used_at: null },
      { status: 'active', last_used_at: expect.any(String), created_by: { type: 'user' } },
    ])
    for (const path of ['/v1/org/users', '/v1/auth/session', '/v1/account']) {
      expect((await service.call({ key: own.token }, path)).json.code).toBe('invalid_api_key')
    }
    const revoke = () => service.send(own.owner, 'DELETE', `/v1/auth/scim-tokens/${own.tokenId}`)
    expect((await revoke()).json).toMatchObject({ status: 'revoked' })
    expect(await own.send('GET', '/Users')).toMatchObject(error(401))
    expect((await revoke()).status).toBe(200)
    expect((await create()).status).toBe(200)
    // A key, a session and nothing at all are refused in SCIM's form, too.
    const { key } = await service.makeKey(own.accountId)
    expect(await service.call({ key }, '/v1/scim/v2/Users')).toMatchObject(error(401))
    expect(await service.send(own.owner, 'GET', '/v1/scim/v2/Users')).toMatchObject(error(401))
    expect(await service.call({}, '/v1/scim/v2/Users')).toMatchObject(error(401))
    expect(await service.call({}, '/v1/scim/v2/Nothing')).toMatchObject(error(404))
    expect(await own.send('PUT', '/Users')).toMatchObject(error(405))
  })

  it('sees the users of its own account and domain alone', async () => {
    const [one, other] = [await service.makeDirectory(), await service.makeDirectory()]
    const id = await one.make('mika')
    expect(await other.send('GET', `/Users/${id}`)).toMatchObject(error(404))
    expect(await other.patch(id, { op: 'replace', path: 'active', value: false })).toMatchObject(error(404))
    expect(await other.send('DELETE', `/Users/${id}`)).toMatchObject(error(404))
    const foreign = await service.addUser(one.accountId, { email: `robin@foreign${one.domain}`, role: 'analyst' })
    expect(await one.send('GET', `/Users/${foreign}`)).toMatchObject(error(404))
    expect((await one.send('GET', '/Users')).json).toMatchObject({ totalResults: 1 })
    // Without the plan, and of a closed account.
    await service.test.owner(`UPDATE accounts SET plan = 'growth' WHERE id = $1`, [one.accountId])
    expect(await one.send('GET', '/Users')).toMatchObject(error(403))
    await service.test.owner(`UPDATE accounts SET plan = 'enterprise', closed_at = now() WHERE id = $1`, [
      one.accountId,
    ])
    expect(await one.send('GET', '/Users')).toMatchObject(error(403))
  })
})

describe('a user of a directory', () => {
  it('gets the role analyst, is removed with sessions, and comes back with the same id', async () => {
    const email = `kim@${directory.domain}`
    const id = await directory.make('kim', { externalId: 'x-1' })
    const { headers, answer } = await service.enter(email)
    expect(answer.json.role).toBe('analyst')
    const { id: keyId } = await service.makeKey(directory.accountId)
    await service.test.owner('UPDATE api_keys SET created_by = $2 WHERE id = $1', [keyId, id])
    await service.test.owner(
      `INSERT INTO passkeys (account_id, id, user_id, name, credential_id, public_key, algorithm, counter, aaguid, transports,
         is_backup_eligible, is_backed_up, created_at)
       VALUES ($1, $2, $3, 'phone', '\\x01', '\\x02', 'ES256', 0, gen_random_uuid(), '{}', false, false, now())`,
      [directory.accountId, newAccountId('psk'), id],
    )
    await service.request(email)
    const link = await service.tokenFor(email)
    expect((await directory.patch(id, { op: 'Replace', path: 'active', value: 'False' })).json.active).toBe(false)
    expect(await service.test.owner('SELECT 1 FROM passkeys WHERE user_id = $1', [id])).toEqual([])
    expect((await service.send(headers, 'GET', '/v1/auth/session')).status).toBe(401)
    expect((await service.use(link)).status).toBe(400)
    const [entry] = await service.test.owner(
      `SELECT actor_kind, actor_id, after FROM audit_entries WHERE action = 'user.deprovisioned' AND subject_id = $1`,
      [id],
    )
    expect(entry).toMatchObject({
      actor_kind: 'directory',
      actor_id: 'directory',
      after: { sessions_ended: 1, keys_created: [keyId] },
    })
    const shown = await service.send(
      directory.owner,
      'GET',
      `/v1/account/audit?subject_id=${id}&action=user.deprovisioned`,
    )
    expect(shown.json.data).toMatchObject([{ actor: { type: 'directory', id: null } }])
    expect(
      (await directory.send('POST', '/Users', { schemas: [USER], userName: email.toUpperCase() })).json,
    ).toMatchObject({
      id,
      active: true,
    })
    expect((await service.enter(email)).answer.json.role).toBe('analyst')
    expect((await directory.send('DELETE', `/Users/${id}`)).status).toBe(204)
    expect(await directory.send('GET', `/Users/${id}`)).toMatchObject(error(404))
    expect((await directory.make('kim')).toString()).toBe(id)
  })

  it('keeps its role and its id when the address changes, and its sessions and links end', async () => {
    const id = await directory.make('before')
    const { headers } = await service.enter(`before@${directory.domain}`)
    await service.request(`before@${directory.domain}`)
    const link = await service.tokenFor(`before@${directory.domain}`)
    const moved = await directory.patch(id, { op: 'replace', path: 'userName', value: `after@${directory.domain}` })
    expect(moved.json).toMatchObject({ id, userName: `after@${directory.domain}` })
    expect((await service.send(headers, 'GET', '/v1/auth/session')).status).toBe(401)
    expect((await service.use(link)).status).toBe(400)
    expect((await service.enter(`after@${directory.domain}`)).answer.status).toBe(200)
    for (const [userName, expected] of [
      ['after@foreign.example', error(409)],
      [`after@eu.${directory.domain}`, error(409)],
      ['no address', error(400, 'invalidValue')],
    ] as const) {
      expect(await directory.patch(id, { op: 'replace', path: 'userName', value: userName })).toMatchObject(expected)
    }
    const taken = await directory.make('taken')
    const both = await directory.patch(taken, {
      op: 'replace',
      value: { displayName: 'x', userName: `after@${directory.domain}` },
    })
    expect(both).toMatchObject(error(409, 'uniqueness'))
    expect((await directory.send('GET', `/Users/${taken}`)).json).not.toHaveProperty('displayName')
  })

  it('is no owner, of no other domain and of no other account', async () => {
    const owner = await service.addUser(directory.accountId, { email: `boss@${directory.domain}`, role: 'owner' })
    expect((await directory.send('GET', `/Users/${owner}`)).json).toMatchObject({
      userName: `boss@${directory.domain}`,
    })
    expect(await directory.patch(owner, { op: 'replace', path: 'active', value: false })).toMatchObject(error(409))
    expect(await directory.send('DELETE', `/Users/${owner}`)).toMatchObject(error(409))
    expect(await directory.send('PUT', `/Users/${owner}`, { userName: `boss@${directory.domain}` })).toMatchObject(
      error(409),
    )
    expect(await directory.send('POST', '/Users', { userName: 'a@foreign.example' })).toMatchObject(error(409))
    expect(await directory.send('POST', '/Users', { userName: `boss@${directory.domain}` })).toMatchObject(
      error(409, 'uniqueness'),
    )
    const other = await service.makeTeam()
    const elsewhere = `elsewhere@${directory.domain}`
    await service.addUser(other.accountId, { email: elsewhere, role: 'analyst' })
    expect(await directory.send('POST', '/Users', { userName: elsewhere })).toMatchObject(error(409, 'uniqueness'))
  })

  it('is refused by the allowlist, and without a verified domain', async () => {
    const listed = await startScimService({ DASHBOARD_LOGIN_ALLOWLIST: '@example.com,mika@org1.example' })
    const own = await listed.makeDirectory()
    expect((await own.send('POST', '/Users', { userName: `mika@${own.domain}` })).status).toBe(201)
    expect(await own.send('POST', '/Users', { userName: `robin@${own.domain}` })).toMatchObject(error(403))
    await listed.send(own.owner, 'DELETE', '/v1/auth/sso/config')
    expect(await own.send('POST', '/Users', { userName: `mika@${own.domain}` })).toMatchObject(error(409))
    expect((await own.send('GET', '/Users')).json.totalResults).toBe(0)
    await listed.close()
  })
})

describe('bad input', () => {
  it('is 400 with the type of SCIM, and never changes anything', async () => {
    const id = await directory.make('steady', { displayName: 'as before' })
    const filters = [
      'userName co "a"',
      'userName eq',
      'title eq "x"',
      '(userName eq "a")',
      'active eq "maybe"',
      'userName eq "a" or id eq "b"',
      'userName eq "a\\u0000"',
      'id eq true',
      'emails eq "x"',
      'emails[type eq "home"].value eq "x"',
      ' ',
      'userName eq "a" and',
      '__proto__ eq "x"',
    ]
    for (const filter of filters) {
      expect(await directory.send('GET', `/Users?filter=${encodeURIComponent(filter)}`), filter).toMatchObject(
        error(400, 'invalidFilter'),
      )
    }
    expect(await directory.send('GET', '/Users?count=x')).toMatchObject(error(400, 'invalidValue'))
    expect((await directory.send('GET', '/Users?count=-1&startIndex=-5')).json).toMatchObject({
      startIndex: 1,
      itemsPerPage: 0,
    })
    expect((await directory.send('GET', `/Users?startIndex=${'9'.repeat(19)}`)).json).toMatchObject({ Resources: [] })
    const set = (path: string | undefined, value: unknown, op = 'replace') =>
      directory.patch(id, { op: 'replace', path: 'displayName', value: 'changed' }, { op, path, value })
    const cases: [Promise<unknown>, string][] = [
      [set('active', 'yes'), 'invalidValue'],
      [set('userName', null), 'invalidValue'],
      [set('id', 'usr_x'), 'mutability'],
      [set('emails[type eq', 'x'), 'invalidPath'],
      [set('emails[type co "x"].value', 'x'), 'invalidFilter'],
      [set('name.givenName', 7), 'invalidValue'],
      [set('displayName', 'x'.repeat(2_000)), 'invalidValue'],
      [set('', 'x'), 'invalidPath'],
      [set('a b', 'x'), 'invalidPath'],
      [set(undefined, 'x'), 'invalidValue'],
      [set(undefined, undefined, 'remove'), 'noTarget'],
      [set('displayName', undefined), 'invalidValue'],
      [set('displayName', 'x', 'move'), 'invalidSyntax'],
      [directory.send('PATCH', `/Users/${id}`, { Operations: [] }), 'invalidSyntax'],
      [directory.send('PATCH', `/Users/${id}`, []), 'invalidValue'],
      [
        directory.patch(id, ...Array.from({ length: 101 }, () => ({ op: 'replace', path: 'displayName', value: 'x' }))),
        'tooMany',
      ],
    ]
    for (const [sent, scimType] of cases) expect(await sent).toMatchObject(error(400, scimType))
    const raw = (body: string) =>
      service.call({ key: directory.token }, `/v1/scim/v2/Users/${id}`, {
        method: 'PATCH',
        body,
        headers: { 'Content-Type': 'application/scim+json' },
      })
    expect(await raw('{')).toMatchObject(error(400, 'invalidSyntax'))
    const poisoned = await raw(
      `{"Operations":[{"op":"add","path":"__proto__.polluted","value":"x"},{"op":"add","value":{"__proto__":{"polluted":"x"},"constructor.prototype.polluted":"x"}}]}`,
    )
    expect(poisoned.status).toBeLessThan(500)
    expect(({} as { polluted?: string }).polluted).toBeUndefined()
    expect((await directory.send('GET', `/Users/${id}`)).json.displayName).toBe('as before')
  })
})

describe('at the same moment', () => {
  it('two POSTs, a POST and a first login, and a POST and an invite make one user and one membership', async () => {
    const domain = directory.domain
    const post = (name: string) => directory.send('POST', '/Users', { userName: `${name}@${domain}` })
    const twice = await Promise.all([post('twice'), post('twice'), post('twice')])
    expect(twice.map(({ status }) => status).toSorted()).toEqual([201, 409, 409])

    const begun = await service.begin(domain)
    const email = `both@${domain}`
    service.provider.answers.token = {
      access_token: 'x',
      token_type: 'bearer',
      id_token: await service.provider.token({ nonce: begun.nonce, sub: 'both', email }),
    }
    const [posted, entered] = await Promise.all([
      post('both'),
      service.finish(begun, { code: 'x', state: begun.state }),
    ])
    expect([201, 409]).toContain(posted.status)
    expect(entered.status).toBe(200)

    await service.invite(directory.owner, `invited@${domain}`, 'developer')
    const token = await service.inviteTokenFor(`invited@${domain}`)
    const [, accepted] = await Promise.all([post('invited'), service.accept(token)])
    expect([200, 409]).toContain(accepted.status)
    for (const name of ['twice', 'both', 'invited']) {
      expect(await service.test.owner('SELECT 1 FROM users WHERE email = $1', [`${name}@${domain}`])).toHaveLength(1)
    }
  })

  it('a removal by the directory and a login leave no session', async () => {
    const id = await directory.make('leaver')
    const begun = await service.begin(directory.domain)
    service.provider.answers.token = {
      access_token: 'x',
      token_type: 'bearer',
      id_token: await service.provider.token({
        nonce: begun.nonce,
        sub: 'leaver',
        email: `leaver@${directory.domain}`,
      }),
    }
    const [removed, entered] = await Promise.all([
      directory.patch(id, { op: 'replace', path: 'active', value: false }),
      service.finish(begun, { code: 'x', state: begun.state }),
    ])
    expect([removed.status, [200, 403].includes(entered.status)]).toEqual([200, true])
    if (entered.status === 200) {
      expect((await service.send(browserOf(entered), 'GET', '/v1/auth/session')).status).toBe(401)
    }
  })
})

it('lists many users in pages, each once', { timeout: 60_000 }, async () => {
  const own = await service.makeDirectory()
  await service.test.owner(
    `INSERT INTO users (account_id, id, email, role)
     SELECT $1, 'usr_' || lpad(n::text, 26, '0'), 'user' || n || '@' || $2, 'analyst' FROM generate_series(1, 1001) n`,
    [own.accountId, own.domain],
  )
  const seen = new Set<string>()
  for (let start = 1; start <= 1_001; start += 200) {
    const { json } = await own.send('GET', `/Users?startIndex=${start}&count=1000`)
    const { Resources, totalResults } = json as unknown as { Resources: { id: string }[]; totalResults: number }
    expect([totalResults, Resources.length]).toEqual([1_001, start === 1_001 ? 1 : 200])
    for (const { id } of Resources) seen.add(id)
  }
  expect(seen.size).toBe(1_001)
})
