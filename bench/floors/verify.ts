// Verifies the signature of a token, reads what it is bound to under the same locks, executes what is under a mandate, under a
// schedule or approved, and records the decision. No schemas, no policy.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import Koa from 'koa'
import { readBody, serve, setting } from './floor.ts'
import { db, execute, readBound, readKey, readState, recordDecision, scope } from './intents.ts'

const { keys } = JSON.parse(setting('JWKS')) as { keys: { kid: string }[] }
const byKid = new Map<string, KeyObject>(keys.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]))

const app = new Koa()
app.use(async (ctx) => {
  await readKey(ctx.get('authorization'))
  const { intent_token: token } = JSON.parse((await readBody(ctx.req)).toString())
  const [head = '', body = '', signature = ''] = String(token).split('.')
  const key = byKid.get(JSON.parse(Buffer.from(head, 'base64url').toString()).kid)
  if (key === undefined) throw new Error('the token is by an unknown key')
  const bytes = Buffer.from(signature, 'base64url')
  const isValid = verify('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' }, bytes)
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  await db.tenant(scope, async (tx) => {
    const [, mandates] = await Promise.all([readBound(tx, claims, claims.jti), readState(tx, claims)])
    const isExecuted = (claims.mandate_id ?? claims.schedule_id ?? claims.approval_id) !== undefined
    if (isExecuted) await execute(tx, claims.jti, claims, mandates)
    await Promise.all([
      recordDecision(tx, 'verify', claims.jti, isExecuted),
      isExecuted && recordDecision(tx, 'execute', claims.jti),
    ])
  })
  ctx.body = { valid: isValid, reason: null, jti: claims.jti }
})
serve(app.callback())
