// The lists of the account: each has the total on request, filters by time and role, and cursors that are bound to both.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Role } from '#src/catalogue/access.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { startTeamService, type TeamService } from './service.ts'

type Headers = Record<string, string>

const EARLY = '2026-01-02T03:04:05.000Z'
const ROLES: readonly Role[] = ['analyst', 'analyst', 'approver', 'developer']
let service: TeamService
let owner: Headers
let accountId: string

beforeAll(async () => {
  service = await startTeamService()
  const team = await service.makeTeam()
  ;({ owner, accountId } = team)
  for (const role of ROLES) {
    await service.signIn(accountId, { role })
    expect((await service.invite(owner, service.newAddress(), role)).status).toBe(200)
  }
  const { sessions } = service.services.account
  await service.test.db.system('test', async (tx) => {
    const user = { accountId, userId: team.ownerId }
    for (let more = 0; more < 4; more += 1) await sessions.create(tx, { ...user, method: 'magic_link' })
  })
  const exported = `INSERT INTO account_exports (account_id, id, state, includes_media, requested_by, job_id)
    VALUES ($1, $2, 'failed', false, 'usr_x', gen_random_uuid())`
  for (let more = 0; more < 5; more += 1) await service.test.owner(exported, [accountId, newAccountId('exp')])
  // The oldest of each.
  for (const table of ['users', 'invites', 'user_sessions', 'account_exports']) {
    const oldest = `SELECT min(id) FROM ${table} WHERE account_id = $1`
    await service.test.owner(`UPDATE ${table} SET created_at = $2 WHERE account_id = $1 AND id = (${oldest})`, [
      accountId,
      EARLY,
    ])
  }
  await service.test.owner(
    "UPDATE accounts SET created_at = date_trunc('month', now()) - interval '2 months' WHERE id = $1",
    [accountId],
  )
})
afterAll(() => service.close())

const read = async (path: string, search = '') => (await service.send(owner, 'GET', path + search)).json
const idsOf = ({ data }: Record<string, unknown>) => (data as object[]).map((row) => JSON.stringify(row))

it.each([
  ['/v1/org/users', 5],
  ['/v1/org/invites', 4],
  ['/v1/auth/sessions', 5],
  ['/v1/account/exports', 5],
])('%s counts, and filters by the time of creation', async (path, total) => {
  const all = await read(path, '?limit=100')
  expect(all.total_count).toBeUndefined()
  expect(idsOf(all)).toHaveLength(total)
  expect((await read(path, '?limit=1&include=total_count')).total_count).toBe(total)
  const early = await read(path, `?created_lt=${EARLY.replace('05.000', '06.000')}&include=total_count`)
  expect([early.total_count, idsOf(early)]).toEqual([1, idsOf(all).slice(-1)])
  const late = await read(path, `?created_gte=${EARLY.replace('05.000', '06.000')}&include=total_count`)
  expect([late.total_count, idsOf(late)]).toEqual([total - 1, idsOf(all).slice(0, -1)])
  expect(await read(path, `?created_gte=${EARLY}&include=total_count`)).toMatchObject({ total_count: total })

  const { next_cursor: cursor } = await read(path, `?limit=1&created_gte=${EARLY}`)
  expect(idsOf(await read(path, `?limit=1&created_gte=${EARLY}&cursor=${cursor}`))).toEqual(idsOf(all).slice(1, 2))
  expect(await read(path, `?limit=1&cursor=${cursor}`)).toMatchObject({ errors: [{ pointer: '?cursor' }] })
  expect(await read(path, '?created_gte=yesterday')).toMatchObject({ errors: [{ pointer: '?created_gte' }] })
})

it.each(['/v1/org/users', '/v1/org/invites'])('%s filters by role', async (path) => {
  const analysts = await read(path, '?role=analyst&include=total_count&limit=1')
  expect(analysts).toMatchObject({ data: [{ role: 'analyst' }], total_count: 2, has_more: true })
  const rest = await read(path, `?role=analyst&limit=1&cursor=${analysts.next_cursor}`)
  expect(rest).toMatchObject({ data: [{ role: 'analyst' }], has_more: false })
  expect(await read(path, '?role=superuser')).toMatchObject({ errors: [{ pointer: '?role' }] })
  expect((await read(path, `?role=approver&created_lt=${EARLY}`)).data).toEqual([])
})

it('/v1/account/invoices counts the months of the account', async () => {
  const all = await read('/v1/account/invoices', '?include=total_count')
  expect([all.total_count, idsOf(all).length]).toEqual([3, 3])
  expect(await read('/v1/account/invoices', '?limit=1&include=total_count')).toMatchObject({ total_count: 3 })
})
