// Tokens of a benchmark, issued by the service, and requests that verify them.

import { openConnection, requestOf } from './load.ts'

export type Members = Record<string, unknown>

export interface Action {
  action_description: string
  action_payload: Members
}

export const PAYMENT: Action = {
  action_description: 'Pay 120.00 EUR to Example Garage for invoice 2026-118',
  action_payload: { action_type: 'payment', amount: '120.00', currency: 'EUR', counterparty: 'Example Garage' },
}

const JSON_BODY = { 'Content-Type': 'application/json' }
// More at once would not be answered sooner.
const AT_ONCE = 16

/** Sends each body, some at once, and returns the answers in the order of the bodies. */
export async function postAll(port: number, key: string, path: string, bodies: readonly Members[]): Promise<Members[]> {
  const answers: Members[] = []
  const left = bodies.entries()
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, bodies.length) }, async () => {
      const connection = await openConnection(port)
      try {
        for (const [index, body] of left) {
          const bytes = Buffer.from(JSON.stringify(body))
          const answer = await connection.send([
            requestOf({ method: 'POST', path, key, headers: JSON_BODY, body: bytes }),
          ])
          if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.body.toString()}`)
          answers[index] = JSON.parse(answer.body.toString())
        }
      } finally {
        connection.close()
      }
    }),
  )
  return answers
}

/** Issues one token for each, spread over a hundred sessions and devices. */
export async function issue(
  port: number,
  key: string,
  wanted: readonly (Action & { bound?: Members })[],
): Promise<string[]> {
  const bodies = wanted.map(({ bound, ...action }, index) => ({
    ...action,
    ...bound,
    agent_session_id: `session-${index % 100}`,
    device_id: `device-${index % 100}`,
    ttl_seconds: 3_600,
  }))
  return (await postAll(port, key, '/v1/intent/authorize', bodies)).map((answer) => String(answer.intent_token))
}

export function verifyRequestOf(key: string, { action_description, action_payload }: Action, token: string): Buffer {
  const body = Buffer.from(JSON.stringify({ action_description, action_payload, intent_token: token }))
  return requestOf({ method: 'POST', path: '/v1/intent/verify', key, headers: JSON_BODY, body })
}

/** Rules about the context and the payload, none of which refuses the action, and then the others. */
export async function setRules(port: number, key: string, count: number, others: readonly Members[] = []) {
  const rules = Array.from({ length: count }, (_, index) => ({
    id: `rule-${index}`,
    priority: index,
    when: {
      all: [
        { field: 'action_type', op: 'eq', value: 'payment' },
        { field: 'action_payload.counterparty', op: 'in', value: [`Blocked ${index}`, `Closed ${index}`] },
        { field: 'context.transaction_amount', op: 'gt', value: index },
      ],
    },
    require: { deny: true },
  }))
  const answer = await fetch(`http://127.0.0.1:${port}/v1/policy`, {
    method: 'PUT',
    headers: { ...JSON_BODY, Authorization: `Bearer ${key}`, 'If-Match': '*' },
    body: JSON.stringify({ document: { name: 'bench', rules: [...rules, ...others] } }),
  })
  if (!answer.ok) throw new Error(`PUT /v1/policy answered ${answer.status}: ${await answer.text()}`)
}
