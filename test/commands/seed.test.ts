import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { makeRawKey } from '#src/account/keys/format.ts'
import { type Config, readDeploymentSettings } from '#src/config.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { embeddedDefaults, SANDBOX_ACCOUNT, seed } from '../../commands/seed.ts'
import { startTestService } from '../support/service.ts'

const state = {
  masterKey: 'k',
  loginPassword: 'p',
  sandboxKeys: { all: 'a', verify: 'v', attest: 't' },
  account: { id: 'acc_01m7x7enn9exb9d4gh0kbvf97d', key: 'k' },
}
const defaultsOf = (env: NodeJS.ProcessEnv, isDatabaseOurs = true) =>
  embeddedDefaults({ directory: '/data', state, settings: readDeploymentSettings(env), isDatabaseOurs })

it.each([
  ['on loopback', {}, true, '1'],
  ['on loopback, by its name', { HOST: 'localhost' }, true, '1'],
  ['on IPv6 loopback', { HOST: '::1' }, true, '1'],
  ['for other machines', { HOST: '0.0.0.0' }, true, '0'],
  ['for other machines, by a name', { HOST: '127.0.0.1.example.com' }, true, '0'],
  ['on a database of its operator', {}, false, '0'],
  ['where its operator turns it off', { LOGIN_ECHO: '0' }, true, '0'],
])('a service that listens %s shows links: %j', (_, env, isDatabaseOurs, expected) => {
  expect(defaultsOf(env, isDatabaseOurs).LOGIN_ECHO).toBe(expected)
})

it('mails are files beside the other data', () => {
  expect(defaultsOf({}).MAIL_DIR).toBe('/data/mail')
  expect(defaultsOf({ MAIL_DIR: '/elsewhere' }).MAIL_DIR).toBe('/elsewhere')
})

it('the accounts of a deployment are created once, and that is in their audit logs', async () => {
  const service = await startTestService()
  const made = {
    masterKey: randomBytes(32).toString('base64'),
    loginPassword: 'x',
    sandboxKeys: { all: makeRawKey('sandbox'), verify: makeRawKey('sandbox'), attest: makeRawKey('sandbox') },
    account: { id: newAccountId('acc'), key: makeRawKey('sandbox') },
  }
  for (let start = 0; start < 2; start += 1) await seed(service.services, made, {} as Config)
  for (const accountId of [SANDBOX_ACCOUNT, made.account.id]) {
    const entries = await service.test.owner(
      "SELECT actor_kind, subject_id FROM audit_entries WHERE account_id = $1 AND action = 'account.created'",
      [accountId],
    )
    expect(entries).toEqual([{ actor_kind: 'operator', subject_id: accountId }])
  }
  await service.close()
})
