// Every page of the dashboard in each of its states: with data, empty, slow, failed, forbidden; readable in light, dark and on
// a phone, with nothing that axe finds.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import { type Dashboard, findInaccessible, hasChromium, startDashboard, type Visitor } from '../support/dashboard.ts'

interface PageRow {
  /** Below /app/<environment>/; `:claim` is replaced. */
  path: string
  /** Its heading, with data. */
  heading: string
  /** The request without which it can't show anything. */
  request: RegExp
  /** Without it, the page says so. */
  permission?: string
  /** What it says without data. */
  empty?: string
}

const PAGES: readonly PageRow[] = [
  { path: 'overview', heading: 'What waits', request: /\/v1\/overview$/ },
  {
    path: 'claims',
    heading: 'Claims',
    request: /\/v1\/claims\?/,
    permission: 'claims.read',
    empty: 'A claim appears with its first capture.',
  },
  { path: 'cases', heading: 'Cases', request: /\/v1\/cases\?/, permission: 'cases.read' },
  { path: 'batches', heading: 'Batches', request: /\/v1\/claims\/batches\?/, permission: 'claims.read' },
]

describe.skipIf(!hasChromium)('the pages of the dashboard (skipped where there is no Chromium)', () => {
  let dashboard: Dashboard
  let scope: Scope
  let owner: Visitor
  let stranger: Visitor
  beforeAll(async () => {
    dashboard = await startDashboard()
    scope = await dashboard.service.makeCaller()
    await dashboard.service.makeClaim(scope, { reference: 'CLM-1', risk_status: 'review' })
    owner = await dashboard.signIn(scope.accountId)
    const empty = await dashboard.service.makeCaller()
    stranger = await dashboard.signIn(empty.accountId, { scheme: 'dark', width: 390 })
  })
  afterAll(() => dashboard?.close())

  describe.each(PAGES)('$path', ({ path, heading, request, permission, empty }) => {
    it('shows its data, with nothing that axe finds, and asks no other host', async () => {
      const { page, visit, complaints } = owner
      complaints.length = 0
      await visit(`sandbox/${path}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
      expect(await findInaccessible(page)).toEqual([])
      expect(complaints).toEqual([])
    })

    it('is readable in the dark on a phone, also without data', async () => {
      const { page, visit, complaints } = stranger
      complaints.length = 0
      await visit(`sandbox/${path}`)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      if (empty !== undefined) await page.getByText(empty).waitFor()
      await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      expect(await findInaccessible(page)).toEqual([])
      expect(complaints).toEqual([])
    })

    it('shows while it waits that it does, and what failed with a way to try again', async () => {
      const { page, visit } = owner
      let answer: (() => void) | undefined
      await page.route(request, async (route) => {
        await new Promise<void>((done) => {
          answer = done
        })
        await route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          headers: { 'Retry-After': '120' },
          body: JSON.stringify({
            type: 'about:blank',
            title: 'Unavailable',
            status: 503,
            code: 'unavailable',
            detail: 'The service restarts.',
            request_id: 'req_1',
          }),
        })
      })
      await visit(`sandbox/${path}`)
      await page.getByRole('status', { name: 'Loading' }).first().waitFor()
      await expect.poll(() => answer).toBeDefined()
      answer?.()
      await page.getByText('The service restarts.').first().waitFor()
      expect(await findInaccessible(page)).toEqual([])
      await page.unroute(request)
      await page.getByRole('button', { name: 'Try again' }).first().click()
      await page.getByText('The service restarts.').first().waitFor({ state: 'detached' })
    })

    it.skipIf(permission === undefined)('says which permission it takes where the user has none', async () => {
      const { page, visit } = await dashboard.signIn(scope.accountId, { role: 'developer' })
      await visit(`live/${path}`)
      await page.getByText(permission ?? '', { exact: true }).waitFor()
      expect(await page.getByRole('navigation').getByRole('link', { name: heading }).count()).toBe(0)
      await page.context().close()
    })
  })
})
