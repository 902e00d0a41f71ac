// Reads what a token is bound to, twice as ours (before it signs and under the locks), signs, and stores the token and the
// decision. No schemas, no policy.

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import Koa from 'koa'
import { insertIntent } from '#src/authorize/tokens/rows.ts'
import { newId } from '#src/platform/ids.ts'
import { readBody, serve } from './floor.ts'
import { db, readBound, readKey, recordDecision, scope } from './intents.ts'

const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const head = Buffer.from('{"alg":"ES256"}').toString('base64url')
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')
const principal = { kind: 'key', keyId: newId('key', 'sandbox'), scopes: ['all'] } as const
let index = 0

const app = new Koa()
app.use(async (ctx) => {
  await readKey(ctx.get('authorization'))
  const action = JSON.parse((await readBody(ctx.req)).toString())
  await db.tenant(scope, (tx) => readBound(tx, action))
  const jti = newId('jti', 'sandbox')
  const [actionHash, payloadHash] = [hashOf(action.action_description), hashOf(JSON.stringify(action.action_payload))]
  const body = Buffer.from(JSON.stringify({ jti, actionHash, payloadHash, ...action })).toString('base64url')
  const signed = sign('sha256', Buffer.from(`${head}.${body}`), { key, dsaEncoding: 'ieee-p1363' })
  const token = `${head}.${body}.${signed.toString('base64url')}`
  index += 1
  const statusIndex = index
  await db.tenant(scope, async (tx) => {
    await readBound(tx, action)
    await Promise.all([
      insertIntent(
        tx,
        { ...scope, principal },
        {
          jti,
          tokenSha256: createHash('sha256').update(token).digest(),
          actionHash,
          payloadHash,
          contextHash: null,
          traceId: null,
          readingHash: null,
          agentId: null,
          agentSessionId: action.agent_session_id,
          deviceId: action.device_id,
          mandateId: null,
          scheduleId: null,
          orderId: null,
          orderHash: null,
          audience: null,
          biometric: null,
          passkeyUserId: null,
          policyVersion: 0,
          // A list that the service does not reach.
          statusList: 1_000_000 + process.pid,
          statusIndex,
          expiresAt: new Date(Date.now() + 300_000),
          sealedFacts: randomBytes(100),
          sealedToken: null,
        },
      ),
      recordDecision(tx, 'authorize', jti),
    ])
  })
  ctx.body = { intent_token: token, jti }
})
serve(app.callback())
