import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, hasBrowser, startBrowser } from '../../support/browser.ts'
import type { TestCaller } from '../../support/callers.ts'
import { PURPOSE, type Sharing, startSharing } from './service.ts'

describe.skipIf(!hasBrowser)(
  'the page of a share in a browser (skipped where there is no Chromium)',
  { timeout: 180_000 },
  () => {
    let on: Sharing
    let caller: TestCaller
    let browser: Browser
    let people = 0
    beforeAll(async () => {
      on = await startSharing()
      caller = await on.makeCaller()
      browser = await startBrowser()
    })
    afterAll(async () => {
      await browser?.close()
      await on?.close()
    })

    const isHidden = (id: string) => browser.evaluate<boolean>(`document.querySelector('#${id}').hidden`)
    // A page that is being loaded again has none of them yet.
    const appears = (id: string) => browser.see(`document.querySelector('#${id}')?.hidden === false`)
    const says = (text: string) =>
      browser.see(`document.querySelector('#message')?.innerText.includes('${text}') === true`)
    const submit = (form: string, values: Record<string, string>) =>
      browser.evaluate(`(() => {
        const form = document.querySelector('#${form}')
        for (const [name, value] of Object.entries(${JSON.stringify(values)})) form.elements[name].value = value
        form.requestSubmit()
      })()`)
    const linkOf = (fragment: unknown) => `${on.app.url}/share#${fragment}`

    /** A share whose page is open, after a code was asked for. */
    async function ask() {
      const traceId = await on.makeTrace(caller)
      const { jobId, neurons } = on.makeJob(traceId)
      const masked = neurons.slice(0, 2)
      const share = await on.share(caller, { trace_id: traceId, job_id: jobId, masked_node_ids: masked })
      const email = `reader${++people}@example.org`
      await browser.open(linkOf(share.token))
      await appears('ask')
      await submit('request', { email, purpose: PURPOSE })
      await appears('verify')
      const mail = await on.newestTo(email)
      return { share, mail, code: /\bcode is (\d{8})\./.exec(mail)?.[1] ?? '' }
    }
    const pendingOf = async (shareId: unknown) =>
      (await on.get(caller, `/v1/trace/disclosure-requests?status=pending&share_id=${shareId}`)).data as unknown[]

    it('takes the code after a reload, and keeps its token out of the address', async () => {
      const { share, code } = await ask()
      await browser.open(`${on.app.url}/share`)
      await appears('verify')
      expect([await isHidden('request'), await browser.evaluate('location.href')]).toEqual([
        true,
        `${on.app.url}/share`,
      ])
      await submit('verify', { code })
      await says('waits for a decision')
      expect(await pendingOf(share.share_id)).toHaveLength(1)
      // What was sent is not asked for again.
      await browser.open(`${on.app.url}/share`)
      await appears('ask')
      expect([await isHidden('request'), await isHidden('verify')]).toEqual([false, true])
      expect(browser.complaints()).toEqual([])
    })

    it('takes the code of a mail in another tab, with the link of the share, whose token is in no mail', async () => {
      const { share, mail, code } = await ask()
      expect(mail).not.toContain(share.token)
      const fragment = /\/share#(\S+)/.exec(mail)?.[1]
      expect(fragment).toMatch(/^dsr_test_/)
      // What a tab keeps is gone with it.
      await browser.evaluate('sessionStorage.clear()')
      await browser.open(linkOf(fragment))
      await appears('open')
      await submit('open', { link: 'https://example.org/share' })
      await says('not a link of a share')
      await submit('open', { link: ` ${share.url} ` })
      await appears('verify')
      expect(await isHidden('open')).toBe(true)
      await submit('verify', { code })
      await says('waits for a decision')
      expect(await pendingOf(share.share_id)).toHaveLength(1)
    })

    it('takes the link of the share in the tab of the mail, and lets a person ask for another code', async () => {
      const { share, mail } = await ask()
      await browser.evaluate('sessionStorage.clear()')
      await browser.open(linkOf(/\/share#(\S+)/.exec(mail)?.[1]))
      await appears('open')
      await browser.evaluate(`location.hash = ${JSON.stringify(share.token)}`)
      await appears('verify')
      await browser.evaluate(`document.querySelector('#again').click()`)
      await appears('request')
      expect(await isHidden('verify')).toBe(true)
      // Another share has nothing to do with the request.
      const other = await ask()
      await browser.open(linkOf(share.token))
      await appears('request')
      expect(other.share.share_id).not.toBe(share.share_id)
    })
  },
)
