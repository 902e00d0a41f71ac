// Strangers who fill a queue that all share: from few addresses, each within its own limit.

import pg from 'pg'
import type { TestAnswer } from './http.ts'
import { until } from './until.ts'

const ADDRESSES = 26
// More than one address may have waiting.
const REQUESTS_EACH = 21

/** Transactions that use the table wait until `open` is called. */
export async function holdTable(ownerUrl: string, table: string): Promise<{ open(): Promise<void> }> {
  const blocker = new pg.Client({ connectionString: ownerUrl })
  // A test that fails before it opens the table drops the database.
  blocker.on('error', () => {})
  await blocker.connect()
  await blocker.query('BEGIN')
  await blocker.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  return { open: () => blocker.end() }
}

/** Sends from 26 addresses until requests are refused with these words: by then the queue is full. */
export async function fillQueue(
  send: (headers: Record<string, string>) => Promise<TestAnswer>,
  refusal: RegExp,
): Promise<{ answers: Promise<TestAnswer[]>; refused(): number }> {
  let refused = 0
  const answers = Promise.all(
    Array.from({ length: ADDRESSES * REQUESTS_EACH }, async (_, index) => {
      const answer = await send({ 'X-Forwarded-For': `203.0.113.${index % ADDRESSES}` })
      if (isRefused(answer, refusal)) refused += 1
      return answer
    }),
  )
  answers.catch(() => {})
  await until(() => refused > 0, { what: 'the queue is full' })
  return { answers, refused: () => refused }
}

export const isRefused = ({ status, json }: TestAnswer, refusal: RegExp): boolean =>
  status === 503 && refusal.test(String(json.detail))
