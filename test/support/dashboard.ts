// The dashboard in a real browser: Debian's Chromium by playwright-core, against the real application.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type { Role } from '#src/catalogue/access.ts'
import { startTestService, type TestService, type TestServiceOptions } from './service.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // Only this machine has an address.
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost',
]
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
// Beside ten other processes a page takes half a minute.
export const PATIENCE_MS = 80_000

export const hasChromium = CHROMIUM !== undefined

export interface Visitor {
  userId: string
  context: BrowserContext
  page: Page
  /** Opens a page below /app/. */
  visit(path: string): Promise<void>
  /** What the console and the policy of the page complained about, and every other host that it asked. */
  complaints: string[]
}

interface VisitorOptions {
  role?: Role
  email?: string
  scheme?: 'light' | 'dark'
  width?: number
  /** Where the browser finds the service: its own address when absent. */
  root?: string
}

export interface Dashboard {
  service: TestService
  browser: Browser
  /** A browser of a new user of the account. */
  signIn(accountId: string, options?: VisitorOptions): Promise<Visitor>
  close(): Promise<void>
}

export async function launchBrowser(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('there is no browser on this machine')
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}

export async function startDashboard(options: TestServiceOptions = {}): Promise<Dashboard> {
  const service = await startTestService(options)
  const browser = await launchBrowser()
  return {
    service,
    browser,
    async signIn(accountId, { role = 'owner', email, scheme = 'light', width = 1_280, root = service.app.url } = {}) {
      const { userId, headers } = await service.signIn(accountId, { role, ...(email === undefined ? {} : { email }) })
      const visitor = await openVisitor(browser, root, { scheme, width })
      await visitor.context.addCookies(
        (headers.Cookie ?? '').split('; ').map((cookie) => {
          const at = cookie.indexOf('=')
          return { name: cookie.slice(0, at), value: cookie.slice(at + 1), url: root }
        }),
      )
      return { ...visitor, userId }
    },
    async close() {
      await browser.close()
      await service.close()
    },
  }
}

/** A browser without a session. */
export async function openVisitor(
  browser: Browser,
  root: string,
  { scheme = 'light', width = 1_280 }: Pick<VisitorOptions, 'scheme' | 'width'> = {},
): Promise<Omit<Visitor, 'userId'>> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  // An answer above 399 is no complaint of the page.
  page.on('console', (message) => {
    if (message.type() !== 'error' || /Failed to load resource/.test(message.text())) return
    // What the debugger evaluates, as axe is, has no file: the policy stops its styles, and those are none of the page.
    const { url, lineNumber, columnNumber } = message.location()
    const isEvaluated = lineNumber === 0 && columnNumber === 0 && !url.includes('/assets/')
    if (!(isEvaluated && message.text().startsWith('Applying inline style'))) complaints.push(message.text())
  })
  page.on('pageerror', (error) => void complaints.push(error.message))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(root) && !/^(?:data|blob):/.test(url)) complaints.push(`asked ${url}`)
  })
  return {
    ...{ context, page, complaints },
    visit: async (path) => void (await page.goto(`${root}/app/${path}`)),
  }
}

/** The findings of axe on what is shown, a line each. */
export async function findInaccessible(page: Page): Promise<string[]> {
  // A page whose parts load has no heading yet.
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
  // The policy of the page allows no inserted script; the debugger's evaluation is none.
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(
          options: object,
        ): Promise<{ violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] }>
      }
    }
    // To read style sheets again it inserts them as elements, which the policy of the page refuses.
    const { violations } = await axe.run({ preload: false })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} ${target.join(' ')}: ${failureSummary}`),
    )
  })
}
