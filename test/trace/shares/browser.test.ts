import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { findInaccessible, hasChromium, launchBrowser, openVisitor } from '../../support/dashboard.ts'
import { PURPOSE, type Sharing, startSharing } from './service.ts'

describe.skipIf(!hasChromium)(
  'the page of a share in a browser (skipped where there is no Chromium)',
  { timeout: 180_000 },
  () => {
    let on: Sharing
    let caller: TestCaller
    let browser: Browser
    let page: Page
    let complaints: string[]
    let people = 0
    beforeAll(async () => {
      on = await startSharing()
      caller = await on.makeCaller()
      browser = await launchBrowser()
      ;({ page, complaints } = await openVisitor(browser, on.app.url, { width: 390 }))
    })
    afterAll(async () => {
      await browser?.close()
      await on?.close()
    })

    const open = async (url: string) => {
      await page.goto('about:blank')
      await page.goto(url)
    }
    const says = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor()
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    const codeField = () => page.getByLabel('The code of the mail')
    const emailField = () => page.getByLabel('Your e-mail address')
    const linkOf = (fragment: unknown) => `${on.app.url}/share#${fragment}`
    const enter = async (code: string) => {
      await codeField().fill(code)
      await press('Send the request')
    }

    /** A share whose page is open, after a code was asked for. */
    async function ask() {
      const traceId = await on.makeTrace(caller)
      const { jobId, neurons } = on.makeJob(traceId)
      const masked = neurons.slice(0, 2)
      const share = await on.share(caller, { trace_id: traceId, job_id: jobId, masked_node_ids: masked })
      const email = `reader${++people}@example.org`
      await open(linkOf(share.token))
      await emailField().fill(email)
      await page.getByLabel('What you need it for').fill(PURPOSE)
      await press('Mail me a code')
      await codeField().waitFor()
      const mail = await on.newestTo(email)
      return { share, mail, code: /\bcode is (\d{8})\./.exec(mail)?.[1] ?? '' }
    }
    const pendingOf = async (shareId: unknown) =>
      (await on.get(caller, `/v1/trace/disclosure-requests?status=pending&share_id=${shareId}`)).data as unknown[]

    it('takes the code after a reload, and keeps its token out of the address', async () => {
      const { share, code } = await ask()
      expect(await findInaccessible(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
      await open(`${on.app.url}/share`)
      await codeField().waitFor()
      expect([await emailField().count(), page.url()]).toEqual([0, `${on.app.url}/share`])
      await enter(code)
      await says('waits for a decision')
      expect(await pendingOf(share.share_id)).toHaveLength(1)
      // What was sent is not asked for again.
      await open(`${on.app.url}/share`)
      await emailField().waitFor()
      expect(await codeField().count()).toBe(0)
      expect(complaints).toEqual([])
    })

    it('takes the code of a mail in another tab, with the link of the share, whose token is in no mail', async () => {
      const { share, mail, code } = await ask()
      expect(mail).not.toContain(share.token)
      const fragment = /\/share#(\S+)/.exec(mail)?.[1]
      expect(fragment).toMatch(/^dsr_test_/)
      // What a tab keeps is gone with it.
      await page.evaluate('sessionStorage.clear()')
      await open(linkOf(fragment))
      await page.getByLabel('The link of the share').fill('https://example.org/share')
      await press('Open it')
      await says('not a link of a share')
      await page.getByLabel('The link of the share').fill(` ${share.url} `)
      await press('Open it')
      await codeField().waitFor()
      expect(await page.getByLabel('The link of the share').count()).toBe(0)
      await enter(code)
      await says('waits for a decision')
      expect(await pendingOf(share.share_id)).toHaveLength(1)
    })

    it('takes the link of the share in the tab of the mail, and lets a person ask for another code', async () => {
      const { share, mail } = await ask()
      await page.evaluate('sessionStorage.clear()')
      await open(linkOf(/\/share#(\S+)/.exec(mail)?.[1]))
      await page.getByLabel('The link of the share').waitFor()
      await page.evaluate(`location.hash = ${JSON.stringify(share.token)}`)
      await codeField().waitFor()
      await press('Ask for another code')
      await emailField().waitFor()
      expect(await codeField().count()).toBe(0)
      // Another share has nothing to do with the request.
      const other = await ask()
      await open(linkOf(share.token))
      await emailField().waitFor()
      expect(other.share.share_id).not.toBe(share.share_id)
    })
  },
)
