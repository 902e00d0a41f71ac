// The dashboard in Chromium beside 100,000 claims: how long an interaction waits for the next paint, as browsers measure it (Event
// Timing API, what Interaction to Next Paint is made of), and when the first rows of the list of claims are there.
// The floor: none, since nothing else paints these pages. The bars are absolute.

import { existsSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'
import { buildDashboard } from '../commands/dashboard/build.ts'
import { judgeLimit, type Options, percentile, print, type Verdict } from './harness.ts'
import { startProcess } from './processes.ts'
import { openStage, type Stage } from './stage.ts'

const CLAIMS = 100_000
const MAX_INTERACTION_MS = 200
const MAX_ROWS_MS = 1_000
const EMAIL = 'adjuster@bench.example'
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

export async function runDashboard(options: Options): Promise<Verdict[]> {
  if (CHROMIUM === undefined) {
    print('there is no Chromium on this machine')
    return []
  }
  await buildDashboard()
  await using stack = new AsyncDisposableStack()
  const stage = await openStage()
  stack.defer(() => stage.close())
  const environment = { ...stage.environment, LOGIN_ECHO: '1', MODE: 'development' }
  const web = await startProcess('workers/web.ts', environment, options)
  stack.defer(() => web.stop())
  await fill(stage, options.isQuick ? CLAIMS / 100 : CLAIMS)
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  stack.defer(() => browser.close())

  const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
  page.setDefaultTimeout(20_000)
  await page.addInitScript(recordInteractions)
  const origin = `http://127.0.0.1:${web.port}`
  await signIn(page, origin)
  const [slowest, firstRows]: [number[], number[]] = [[], []]
  for (let round = 0; round < options.rounds; round += 1) {
    firstRows.push(await openClaims(page, origin))
    await useClaims(page)
    const times = await page.evaluate(() => (globalThis as never as { interactions: number[] }).interactions)
    slowest.push(percentile(times, 98))
  }
  return [
    judgeLimit({
      name: 'dashboard, interaction',
      label: `the slowest of an adjuster's interactions with ${CLAIMS} claims (p98), until the next paint`,
      unit: 'ms',
      values: slowest,
      max: MAX_INTERACTION_MS,
    }),
    judgeLimit({
      name: 'dashboard, list',
      label: `from the address to the first rows of ${CLAIMS} claims, with a warm cache`,
      unit: 'ms',
      values: firstRows,
      max: MAX_ROWS_MS,
    }),
  ]
}

async function fill(stage: Stage, count: number): Promise<void> {
  const { accountId } = stage.scope
  await stage.owner(`INSERT INTO users (account_id, id, email, role) VALUES ($1, $2, $3, 'owner')`, [
    accountId,
    `usr_${'0'.repeat(26)}`,
    EMAIL,
  ])
  await stage.owner(
    `INSERT INTO claims (account_id, environment, id, reference, line, risk_status, risk_score, provenance_status, factor_codes)
     SELECT $1, 'sandbox', 'clm_test_' || lpad(n::text, 26, '0'), 'CLM-' || n, 'property',
       (ARRAY['passed', 'review', 'failed'])[1 + n % 3], n % 101, 'verified', ARRAY['gps_absent']
     FROM generate_series(1, $2::int) n`,
    [accountId, count],
  )
  await stage.owner('ANALYZE claims')
}

async function signIn(page: Page, origin: string): Promise<void> {
  const answer = await fetch(`${origin}/v1/auth/magic-link`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: EMAIL }),
  })
  const { token } = (await answer.json()) as { token?: string }
  if (token === undefined) throw new Error(`no link: ${answer.status}`)
  await page.goto(`${origin}/login/link#${token}&app`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'What waits' }).waitFor()
}

async function openClaims(page: Page, origin: string): Promise<number> {
  const startedAt = performance.now()
  await page.goto(`${origin}/app/sandbox/claims`)
  await rows(page)
  return performance.now() - startedAt
}

/** What an adjuster does in a list: pages, moves by keys, filters, chooses columns, searches, opens a claim and goes back. */
async function useClaims(page: Page): Promise<void> {
  for (let step = 0; step < 3; step += 1) {
    await page.getByRole('button', { name: 'Next page' }).click()
    await rows(page)
  }
  for (let step = 0; step < 20; step += 1) await page.keyboard.press(step < 15 ? 'j' : 'k')
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('textbox', { name: 'Reference' }).first().pressSequentially('CLM-77')
  await page.keyboard.press('Enter')
  await rows(page)
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('An id, a claim reference').pressSequentially('CLM-7712')
  await page.keyboard.press('Escape')
  await page.locator('tbody a').first().click()
  await page.waitForURL(/\/claims\/clm_/)
  await page.goBack()
  await rows(page)
}

async function rows(page: Page): Promise<void> {
  await page.locator('table[aria-busy="false"] tbody tr').first().waitFor()
}

/** Runs in the page. Interactions shorter than 16 ms, a frame, are not reported by browsers and count as that. */
function recordInteractions(): void {
  const interactions: number[] = []
  Object.assign(globalThis, { interactions })
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as unknown as { interactionId: number; duration: number }[]) {
      if (entry.interactionId > 0) interactions.push(entry.duration)
    }
  })
  observer.observe({ type: 'event', durationThreshold: 16, buffered: true } as never)
}
