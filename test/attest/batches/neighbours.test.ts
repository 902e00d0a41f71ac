// One account's batches beside another's.

import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BulkWork, createBulkWork } from '#src/platform/bulk-work.ts'
import { createFairBudget, type FairBudget, type Hold } from '#src/platform/fair-budget.ts'
import { return503 } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { type Caller, goodLine, ndjson, type Service, startService } from './service.ts'

const MEGABYTE = 1024 * 1024
const BATCHES = 8
const LINES = 1_500

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
return503()

async function linesOf(caller: Caller, count: number, of = service) {
  const line = goodLine(await of.makeMedia(caller))
  return Array.from({ length: count }, (_, index) => ({ ...line, external_id: `${index}` }))
}

it('a batch is accepted while another account has many in both of its environments', async () => {
  const [loud, other] = [await service.makeCaller(), await service.makeCaller()]
  const live: Caller = { ...loud, environment: 'live' }
  live.key = service.addKey({ accountId: loud.accountId, environment: 'live', scopes: ['attest'] })
  const large = [await linesOf(loud, LINES), await linesOf(live, LINES)]
  const small = await linesOf(other, 1)
  let waiting = BATCHES
  const sent = Array.from({ length: BATCHES }, (_, n) =>
    service.submit(n % 2 === 0 ? loud : live, large[n % 2] ?? []).finally(() => (waiting -= 1)),
  )
  // By then the others have been read, and wait.
  await Promise.race(sent)
  expect((await service.submit(other, small)).status).toBe(202)
  expect(waiting).toBeGreaterThanOrEqual(BATCHES - 3)
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(sent.map(() => 202))
})

it('an account has one transaction of a batch at a time, in both of its environments together', async () => {
  const real = createBulkWork({ connections: 4 })
  const running: string[] = []
  const begun: string[][] = []
  const bulkWork: BulkWork = (account, lines, work) =>
    real(account, lines, async () => {
      running.push(account)
      begun.push([...running])
      try {
        return await work()
      } finally {
        running.splice(running.indexOf(account), 1)
      }
    })
  const watched = await startService({ bulkWork })
  try {
    const [loud, other] = [await watched.makeCaller(), await watched.makeCaller()]
    const live: Caller = { ...loud, environment: 'live' }
    live.key = watched.addKey({ accountId: loud.accountId, environment: 'live', scopes: ['attest'] })
    const callers = [loud, live, other]
    const lines = await Promise.all(callers.map((caller) => linesOf(caller, 400, watched)))
    const sent = Array.from({ length: 9 }, (_, n) =>
      watched.submit(callers[n % 3] ?? loud, lines[n % 3] ?? [], undefined),
    )
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(sent.map(() => 202))
    expect(begun.length).toBeGreaterThanOrEqual(sent.length)
    for (const accounts of begun) expect(new Set(accounts).size).toBe(accounts.length)
  } finally {
    await watched.close()
  }
})

it('bodies that do not end leave room on the disk for those of another account', async () => {
  const small = await startService({ spoolBudget: createFairBudget(4 * MEGABYTE) })
  const [loud, other] = [await small.makeCaller(), await small.makeCaller()]
  const sockets: Socket[] = []
  const endless = ndjson([goodLine(await small.makeMedia(loud), { external_id: 'x'.repeat(200) })]).repeat(4_000)
  try {
    let answered = 0
    for (let n = 0; n < 6; n += 1) {
      const socket = connect(small.app.port, '127.0.0.1').on('error', () => {})
      socket.once('data', () => (answered += 1))
      socket.write(
        `POST /v1/claims/batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${loud.key}\r\n` +
          `Content-Type: application/x-ndjson\r\nContent-Length: ${4 * endless.length}\r\n\r\n${endless}`,
      )
      sockets.push(socket)
    }
    // The account has what it may have.
    await until(() => answered > 0)
    expect((await small.submit(other, await linesOf(other, 3_000, small))).status).toBe(202)
    expect(answered).toBeLessThan(sockets.length)
  } finally {
    for (const socket of sockets) socket.destroy()
    await small.close()
  }
})

it('a body that does not end loses its disk to an account that comes when others have all', async () => {
  const spoolBudget = createFairBudget(MEGABYTE)
  const small = await startService({ spoolBudget })
  const [loud, other] = [await small.makeCaller(), await small.makeCaller()]
  const line = goodLine(await small.makeMedia(loud), { external_id: 'x'.repeat(200) })
  // What has come is written a quarter of a megabyte at a time: once.
  const lines = ndjson([line]).repeat(Math.floor((0.35 * MEGABYTE) / ndjson([line]).length))
  const socket = connect(small.app.port, '127.0.0.1').on('error', () => {})
  let answer = ''
  socket.on('data', (bytes) => {
    answer += bytes
  })
  const begun: Hold[] = []
  try {
    socket.write(
      `POST /v1/claims/batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${loud.key}\r\n` +
        `Content-Type: application/x-ndjson\r\nContent-Length: ${2 * lines.length}\r\n\r\n${lines}`,
    )
    await until(() => !isFree(spoolBudget, loud.accountId, MEGABYTE / 4 - 2))
    for (let free = 0.7 * MEGABYTE; free > 8 * 1024; free /= 2) {
      const hold = spoolBudget.open(`account ${begun.length}`)
      expect(hold.take(Math.floor(free / 2))).toBe(true)
      begun.push(hold)
    }
    expect((await small.submit(other, await linesOf(other, 300, small))).status).toBe(202)
    expect(await small.spooled()).toEqual([])
    socket.write(lines)
    await until(() => answer.startsWith('HTTP/1.1 503 '))
  } finally {
    socket.destroy()
    for (const hold of begun) hold.release()
    await small.close()
  }
})

/** Whether the account holds no more than so much, where no other holds anything. */
function isFree(budget: FairBudget, account: string, bytes: number): boolean {
  const hold = budget.open(account)
  const isTaken = hold.take(MEGABYTE / 2 - bytes)
  hold.release()
  return isTaken
}
