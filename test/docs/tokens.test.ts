import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Guide, missingTools, openGuide } from '../support/guide.ts'
import { type System, startSystem } from '../support/system.ts'

const hasPyJwt = spawnSync('python3', ['-c', 'import cryptography, jwt'], { stdio: 'ignore' }).status === 0
const isMissing = missingTools(['bash', 'curl']).length > 0 || !hasPyJwt

describe.skipIf(isMissing)(
  'the guide of tokens (skipped where python3 has no PyJWT with cryptography, or bash or curl is missing)',
  { timeout: 120_000 },
  () => {
    let system: System
    let guide: Guide

    beforeAll(async () => {
      system = await startSystem({ engine: 'postgres', only: ['web'] })
      guide = openGuide('docs/authorize/tokens.md', {
        'http://localhost:8080': system.baseUrl,
        svc_test_your_own_key: system.key,
      })
    })
    afterAll(async () => {
      guide?.close()
      await system?.close()
    })

    it('verifies a token of the service with PyJWT, as it stands', async () => {
      await guide.run()
    })

    it('refuses the token for another audience, from another issuer and with other bytes', () => {
      const token = readFileSync(join(guide.folder, 'token.txt'), 'utf8').trim()
      const [header = '', payload = '', signature = ''] = token.split('.')
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
      expect(claims.aud).toBe(system.scope.accountId)
      const changed = Buffer.from(JSON.stringify({ ...claims, aud: 'acc_other' })).toString('base64url')
      const code = readFileSync(join(guide.folder, 'check.py'), 'utf8')
      const check = (text: string, account = claims.aud, program = code) =>
        spawnSync('python3', ['-c', program.replace('open("token.txt").read()', JSON.stringify(text))], {
          env: { ...process.env, API: system.baseUrl, ACCOUNT: account },
          encoding: 'utf8',
        })
      expect(check(token).stdout).toContain(`genuine: ${claims.jti}`)
      const refused = [
        check(token, 'acc_other'),
        check([header, changed, signature].join('.'), 'acc_other'),
        check(token, claims.aud, code.replace('issuer=API', 'issuer="https://evil.example"')),
        check(token, claims.aud, code.replace('"sandbox"', '"live"')),
      ]
      expect(refused.map(({ status, stdout }) => [status, stdout])).toEqual(refused.map(() => [1, '']))
      expect(
        refused.map(
          ({ stderr }) => /(Invalid\w+Error|environment)$/m.exec(stderr.replaceAll(/Error:.*$/gm, 'Error'))?.[1],
        ),
      ).toEqual(['InvalidAudienceError', 'InvalidSignatureError', 'InvalidIssuerError', 'environment'])
    })
  },
)
