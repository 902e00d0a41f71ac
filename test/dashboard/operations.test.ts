// The page of operators in a real browser, on the internal port: a late queue is found, a group of dead jobs is run again as a whole,
// and a queue is paused and resumed.

import { randomUUID } from 'node:crypto'
import pino from 'pino'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { QueueName } from '#src/catalogue/queues.ts'
import { createDashboardFiles } from '#src/dashboard/files.ts'
import { createOperations } from '#src/dashboard/operations.ts'
import { createInternalApp } from '#src/platform/http/internal.ts'
import { type Listening, listen } from '#src/platform/http/server.ts'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue, renew } from '#src/platform/jobs/backlog.ts'
import type { Work } from '#src/platform/jobs/consume.ts'
import { createInternalJobs } from '#src/platform/jobs/internal-jobs.ts'
import { listJobs } from '#src/platform/jobs/operate.ts'
import { listSamples, purgeSamples, sampleQueues } from '#src/platform/jobs/samples.ts'
import { findInaccessible, hasChromium, launchBrowser, PATIENCE_MS } from '../support/dashboard.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'

const PASSWORD = 'correct horse battery'

describe.skipIf(!hasChromium)('the page of operators (skipped where there is no Chromium)', () => {
  let test: TestDatabase
  let scope: Scope
  let guarded: Listening
  let open: Listening
  let browser: Browser
  const logged: Record<string, unknown>[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    test = await createTestDatabase()
    scope = await makeAccount(test)
    guarded = await serve(PASSWORD)
    open = await serve(undefined)
    browser = await launchBrowser()
    await makeDead('deliver', 3, (index) => `connect ECONNREFUSED 192.0.2.${index + 1}:443`)
    await makeDead('deliver', 1, () => 'the certificate has expired')
    await makeDead('attest', 1, () => 'the decoder ended')
    await test.db.tenant(scope, (tx) => enqueue(tx, 'screen', scope, [{ payload: { screeningId: randomUUID() } }]))
    await test.owner(`UPDATE jobs SET run_at = now() - interval '10 minutes' WHERE queue = 'screen'`)
    await renew(test.db, { id: randomUUID(), queue: 'screen', concurrency: 4, isLeaving: false }, [])
  })
  afterAll(async () => {
    await browser?.close()
    await guarded?.close(100)
    await open?.close(100)
    await test?.close()
  })

  function serve(password: string | undefined): Promise<Listening> {
    const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) })
    const work = { run: async () => ({ kind: 'settled' as const }), onDead: async () => {}, onRedrive: async () => {} }
    const workOf = <Q extends QueueName>() => work as Work<Q>
    const parts = [
      createInternalJobs({ db: test.db, password, log, workOf }),
      ...createOperations(createDashboardFiles(), password),
    ]
    return listen(createInternalApp({ checks: {}, registry: new Registry(), parts }), { port: 0, host: '127.0.0.1' })
  }

  async function makeDead(queue: QueueName, count: number, errorOf: (index: number) => string): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const payload = queue === 'deliver' ? { deliveryId: randomUUID() } : { attestationId: randomUUID() }
      const [id] = await test.db.tenant(scope, (tx) => enqueue(tx, queue, scope, [{ payload: payload as never }]))
      await test.owner(`UPDATE jobs SET state = 'dead', attempts = 8, last_error = $2 WHERE id = $1`, [
        id,
        errorOf(index),
      ])
    }
  }

  async function visit(app: Listening, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context: BrowserContext = await browser.newContext({
      httpCredentials: { username: 'operator', password: PASSWORD },
      reducedMotion: 'reduce',
      ...options,
    })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', (error) => void complaints.push(error.message))
    await page.goto(`http://127.0.0.1:${app.port}/operations`)
    return page
  }

  const statesOf = async (queue: QueueName) => (await listJobs(test.db, { queue, limit: 10 })).map(({ state }) => state)

  it('shows the late queue first, with its last hour', async () => {
    await sampleQueues(test.db)
    await sampleQueues(test.db)
    expect((await listSamples(test.db)).filter(({ queue }) => queue === 'screen')).toHaveLength(1)
    const page = await visit(guarded)
    const first = page.getByRole('table', { name: 'Queues' }).getByRole('row').nth(1)
    await first.getByText('late').waitFor()
    expect(await first.getByRole('cell').first().textContent()).toBe('screen')
    await first.getByRole('cell', { name: /^10/ }).waitFor()
    await page.getByRole('img', { name: /^screen: the oldest job waited up to 6\d\d s/ }).waitFor()
    await page.context().close()
  })

  it('runs a group of dead jobs again after a question, and says how many', async () => {
    const page = await visit(guarded)
    const group = page.getByRole('table', { name: 'Dead jobs by cause' }).getByRole('row', { name: /ECONNREFUSED/ })
    await group.getByRole('cell', { name: '3', exact: true }).waitFor()
    await group.getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('button', { name: 'Run 3 jobs again' }).click()
    await page.getByText('3 jobs were queued again.').waitFor()
    await group.waitFor({ state: 'detached' })
    // The one with another cause stays.
    expect((await statesOf('deliver')).toSorted()).toEqual(['dead', 'queued', 'queued', 'queued'])
    expect(await statesOf('attest')).toEqual(['dead'])
    expect(logged.filter(({ act }) => act === 'jobs redrive')).toHaveLength(3)
    await page.context().close()
  })

  it('finds a dead job by its id, and runs it again', async () => {
    const [job] = await listJobs(test.db, { queue: 'attest', limit: 1 })
    const page = await visit(guarded)
    await page.getByLabel('Job', { exact: true }).fill(randomUUID())
    await page.getByText('No dead job matches.').waitFor()
    await page.getByLabel('Job', { exact: true }).fill(job?.id ?? '')
    const row = page.getByRole('table', { name: 'Dead jobs', exact: true }).getByRole('row', { name: job?.id ?? '' })
    await row.getByRole('button', { name: 'Run again' }).click()
    await page.getByText('No dead job matches.').waitFor()
    expect(await statesOf('attest')).toEqual(['queued'])
    await page.context().close()
  })

  it('pauses and resumes a queue, after a question', async () => {
    const page = await visit(guarded)
    for (const [act, after] of [
      ['Pause', 'paused'],
      ['Resume', 'running'],
    ] as const) {
      await page.getByRole('button', { name: `${act.toLowerCase()} screen` }).click()
      await page.getByRole('dialog').getByRole('button', { name: act }).click()
      await page.getByText(`The queue screen is ${after}.`).waitFor()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    expect(logged.map(({ act, queue }) => `${act} ${queue ?? ''}`)).toEqual(
      expect.arrayContaining(['queue pause screen', 'queue resume screen']),
    )
    await page.context().close()
  })

  it('changes nothing without a password, asks for the one that is set, and takes no other page', async () => {
    const page = await visit(open)
    await page.getByText('Set BULL_BOARD_PASSWORD').waitFor()
    expect(await page.getByRole('button', { name: /pause|run again/i }).count()).toBe(0)
    await page.context().close()
    const at = (path: string) => `http://127.0.0.1:${guarded.port}${path}`
    for (const path of ['/operations', '/app/assets/index.js']) expect((await fetch(at(path))).status, path).toBe(401)
    const authorization = `Basic ${Buffer.from(`operator:${PASSWORD}`).toString('base64')}`
    const post = (path: string, headers: Record<string, string>) =>
      fetch(at(path), { method: 'POST', headers: { authorization, ...headers } })
    for (const path of ['/jobs/queues/screen/pause', '/jobs/dead/redrive?queue=screen&cause=x']) {
      expect((await post(path, { Origin: 'https://evil.example' })).status, path).toBe(403)
    }
    expect((await post('/jobs/dead/redrive?queue=screen', {})).status).toBe(400)
    expect((await post('/jobs/queues/none/pause', {})).status).toBe(404)
    expect((await post('/operations', {})).status).toBe(405)
  })

  it('has no finding of axe, in light and dark, and fits a phone', async () => {
    await makeDead('attest', 1, () => 'the decoder ended')
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await visit(guarded, { colorScheme, viewport: { width: 390, height: 800 } })
      await page.getByRole('table', { name: 'Dead jobs by cause' }).waitFor()
      expect(await findInaccessible(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      await page.context().close()
    }
    expect(complaints).toEqual([])
  })

  it('keeps its samples for an hour', async () => {
    await test.owner(`UPDATE queue_samples SET sampled_at = sampled_at - interval '61 minutes' WHERE queue <> 'screen'`)
    expect(await purgeSamples(test.db)).toBeGreaterThan(0)
    expect(new Set((await listSamples(test.db)).map(({ queue }) => queue))).toEqual(new Set(['screen']))
  })
})
