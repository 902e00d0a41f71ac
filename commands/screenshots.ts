// `npm run screenshots`: takes a picture of each page of the dashboard in both themes, from the data of a demo that it
// starts. `-- LINK` takes them from a demo that runs: LINK is the sign-in link that `npm run demo -- --keep` printed.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import sharp from 'sharp'
import { sentenceOf } from './sentence.ts'

const FOLDER = fileURLToPath(new URL('../countersign-results/screenshots/', import.meta.url))
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const THEMES = ['light', 'dark'] as const
const SIZE = { width: 1_280, height: 800 }
const QUALITY = 60
const PATIENCE_MS = 60_000

/** The name of the file, the path below /app/sandbox/, and where the link of the list leads that opens the page. */
const PAGES: readonly { name: string; path: string; opens?: string }[] = [
  { name: 'overview', path: 'overview' },
  { name: 'cases', path: 'cases?queue=all' },
  { name: 'case', path: 'cases?queue=all', opens: 'cases/cas_' },
  { name: 'cases-closed', path: 'cases?queue=closed' },
  { name: 'claims', path: 'claims' },
  { name: 'claim', path: 'claims?riskStatus=failed', opens: 'claims/clm_' },
  { name: 'batches', path: 'batches' },
  { name: 'batch', path: 'batches', opens: 'batches/bat_' },
  { name: 'upload', path: 'batches/new' },
  { name: 'screenings', path: 'screenings' },
  { name: 'screening', path: 'screenings', opens: 'screenings/scr_' },
  { name: 'devices', path: 'devices' },
  { name: 'device', path: 'devices', opens: 'devices/dev_' },
  { name: 'roots', path: 'roots' },
  { name: 'anchors', path: 'anchors' },
  { name: 'analytics', path: 'analytics' },
  { name: 'risk-policy', path: 'risk-policy' },
  { name: 'reevaluations', path: 'reevaluations' },
  { name: 'approvals', path: 'approvals' },
  { name: 'decisions', path: 'decisions' },
  { name: 'mandates', path: 'mandates' },
  { name: 'schedules', path: 'schedules' },
  { name: 'agents', path: 'agents' },
  { name: 'locks', path: 'locks' },
  { name: 'revocations', path: 'revocations' },
  { name: 'reports', path: 'reports' },
  { name: 'keys', path: 'keys' },
  { name: 'endpoints', path: 'endpoints' },
  { name: 'deliveries', path: 'deliveries' },
  { name: 'events', path: 'events' },
  { name: 'consumers', path: 'consumers' },
  { name: 'users', path: 'users' },
  { name: 'invites', path: 'invites' },
  { name: 'roles', path: 'roles' },
  { name: 'sso', path: 'sso' },
  { name: 'scim-tokens', path: 'scim-tokens' },
  { name: 'usage', path: 'usage' },
  { name: 'statements', path: 'statements' },
  { name: 'audit', path: 'audit' },
  { name: 'sign-ins', path: 'sign-ins' },
  { name: 'passkeys', path: 'passkeys' },
  { name: 'exports', path: 'exports' },
  { name: 'closing', path: 'closing' },
  { name: 'orders', path: 'orders' },
  { name: 'order', path: 'orders', opens: 'orders/ord_' },
  { name: 'prescribers', path: 'prescribers' },
  { name: 'exclusion-lists', path: 'exclusion-lists' },
]

process.exit(await main())

async function main(): Promise<number> {
  const [given, ...rest] = process.argv.slice(2)
  if (rest.length > 0 || (given !== undefined && !URL.canParse(given))) {
    process.stderr.write('npm run screenshots takes at most the link that `npm run demo -- --keep` printed.\n')
    return 2
  }
  if (CHROMIUM === undefined) {
    process.stderr.write('There is no Chromium on this machine.\n')
    return 1
  }
  const demo = given === undefined ? startDemo() : undefined
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const link = given ?? (await linkOf(demo as ChildProcess))
    mkdirSync(FOLDER, { recursive: true })
    const context = await browser.newContext({ viewport: SIZE, reducedMotion: 'reduce' })
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    await page.goto(link)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'What waits' }).waitFor()
    for (const theme of THEMES) await takeAll(page, { theme, origin: new URL(link).origin })
    process.stdout.write(`${PAGES.length * THEMES.length} pictures are in ${FOLDER}\n`)
    return 0
  } catch (error) {
    process.stderr.write(`${sentenceOf(error)}\n`)
    return 1
  } finally {
    await browser.close()
    if (demo !== undefined && demo.exitCode === null) {
      const ended = once(demo, 'exit')
      demo.kill('SIGINT')
      await ended
    }
  }
}

function startDemo(): ChildProcess {
  const program = fileURLToPath(new URL('../bootstrap/run.cjs', import.meta.url))
  return spawn(process.execPath, [program, 'commands/demo.ts', '--keep', '--claims', '60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** @throws {Error} when the demo ends without a link. */
async function linkOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('the output of the demo is not read')
  for await (const line of createInterface({ input: stdout })) {
    process.stdout.write(`${line}\n`)
    if (line.includes('/login/link#')) return line.trim()
  }
  throw new Error('The demo ended before it printed its link.')
}

async function takeAll(
  page: Page,
  { theme, origin }: { theme: (typeof THEMES)[number]; origin: string },
): Promise<void> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
  for (const { name, path, opens } of PAGES) {
    await page.goto(`${origin}/app/sandbox/${path}`)
    await settle(page)
    if (opens !== undefined) {
      const link = page.locator(`a[href*="/${opens}"]`).first()
      // A list without such a row is not that of the demo: the wait ends with a sentence that names the row.
      const target = await link.getAttribute('href')
      await page.goto(`${origin}${target}`)
      await settle(page)
    }
    const picture = await page.screenshot()
    await sharp(picture)
      .webp({ quality: QUALITY, effort: 6 })
      .toFile(join(FOLDER, `${name}-${theme}.webp`))
  }
}

/** Waits until everything that the page asked for is there. */
async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'detached' })
  await page.waitForLoadState('networkidle')
}
