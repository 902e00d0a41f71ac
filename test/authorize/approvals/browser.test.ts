import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, hasBrowser, startBrowser } from '../../support/browser.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type Localhost, openLocalhost } from '../../support/localhost.ts'
import { type ApprovalService, startApprovals } from './service.ts'

const PAYLOAD = {
  amount: '12000.00',
  to: { name: 'Example Garage', '<img src=x onerror=alert(1)>': ['a', 1e21, null, true] },
}
const DESCRIPTION = 'Pay 12,000.00 EUR <b>now</b> to \u202eegaraG'

describe.skipIf(!hasBrowser)(
  'approvals in a browser (skipped where there is no Chromium)',
  { timeout: 180_000 },
  () => {
    let localhost: Localhost
    let service: ApprovalService
    let caller: TestCaller
    let browser: Browser
    let root: string
    let userId: string

    beforeAll(async () => {
      localhost = await openLocalhost(() => service.app.port)
      root = localhost.root
      service = await startApprovals({ env: { BASE_URL: root, WEBAUTHN_RP_ID: '', WEBAUTHN_ORIGINS: '' } })
      caller = await service.makeCaller()
      ;({ userId } = await service.join(caller, 'approver', 'mika@example.com'))
      await service.join(caller, 'owner')
      browser = await startBrowser()
      await browser.addAuthenticator()
    })
    afterAll(async () => {
      await browser?.close()
      await service?.close()
      localhost?.close()
    })

    const open = (more: object = {}) =>
      service.open(caller, { payload: PAYLOAD, description: DESCRIPTION, ...more } as never)
    const show = async (id: string) => {
      await browser.open(`${root}/approve#${id}`)
      await browser.see(`!document.querySelector('#approval').hidden`)
    }
    const textOf = (selector: string) => browser.evaluate<string>(`document.querySelector('${selector}').innerText`)
    const press = async (id: string) => {
      await browser.see(`!document.querySelector('#${id}').disabled`)
      await browser.evaluate(`document.querySelector('#${id}').click()`)
    }
    const reads = (id: string, text: string) =>
      browser.see(`document.querySelector('#${id}').innerText.includes('${text}')`)
    const sees = (text: string) => reads('message', text)
    const refuses = (text: string) => reads('refusal', text)

    it('lead to the login and back, show the whole action, and approve it', async () => {
      const row = await open({ demands: [{ min_approvals: 2 }] })
      await browser.open(String((await service.read(caller, row.id)).approve_url))
      await sees('Sign in')
      expect(await browser.evaluate(`document.querySelector('#approval').hidden`)).toBe(true)
      const { link } = await service.services.account.printLink('mika@example.com')
      await browser.open(link)
      await browser.see(`!document.querySelector('#confirm').hidden`)
      await browser.evaluate(`document.querySelector('#confirm').requestSubmit()`)
      await browser.see(`!document.querySelector('#back').hidden`)
      expect(await browser.evaluate(`document.querySelector('#back a').href`)).toBe(`${root}/approve#${row.id}`)
      await show(row.id)

      // Nothing of an action is markup, and what hides or turns text is visible.
      expect(await textOf('#description')).toBe('Pay 12,000.00 EUR <b>now</b> to U+202EegaraG')
      const shown = await textOf('#payload')
      for (const part of ['"12000.00"', '"Example Garage"', '<img src=x onerror=alert(1)>', '1e+21', 'null', 'true']) {
        expect(shown).toContain(part)
      }
      expect(await browser.evaluate(`document.querySelectorAll('#payload img, #description b').length`)).toBe(0)
      const proof = await textOf('#proof')
      expect(proof).toContain(row.actionHash)
      expect(proof).toContain(row.payloadHash)
      for (const part of ['session-1', 'device-1', 'rule-0: In words 0', row.jti, '2 with the role']) {
        expect(await textOf('#facts')).toContain(part)
      }
      await browser.evaluate(`document.querySelector('#comment').value = 'Looks right.'`)
      await press('approve')
      await browser.see(`document.querySelector('#votes').innerText.includes('You: approved')`)
      expect(await service.read(caller, row.id)).toMatchObject({
        status: 'pending',
        decisions: [{ by: userId, via: 'session', comment: 'Looks right.' }],
      })
      await sees('You have approved. It waits for others')
      expect(await browser.evaluate(`document.querySelector('#decide').hidden`)).toBe(true)
      // The page follows what others decide.
      const other = await service.join(caller, 'admin')
      await service.approve(other, row.id)
      await sees('is approved')
      expect(await browser.evaluate(`document.querySelector('#decide').hidden`)).toBe(true)
      expect(browser.asked().filter((url) => !url.startsWith(root))).toEqual([])
    })

    it('show what hides, looks like something else or stands apart by its numbers, and names as they are', async () => {
      const description = 'Pay\u00ad \u0430pple\n1\u03362 to Cafe\u0301 größe кофе\t\u3164'
      const payload = { 'amount ': 1, '1.': [2], '': 'a\nb', '\u05d0': 5, 'p\u0430yee': 'x' }
      const row = await open({ description, payload })
      await show(row.id)
      expect(await textOf('#description')).toBe(
        'PayU+00AD \u0430 (U+0430)pple↵\n1U+03362 to CafeU+0301 größe кофеU+0009U+3164',
      )
      const shown = await textOf('#payload')
      for (const part of ['"amount "', '"1."', '""', '"a\\nb"', '"p\u0430 (U+0430)yee"']) expect(shown).toContain(part)
      expect(await textOf('#proof')).toContain(row.payloadHash)
      // Whatever is written from the right, the value stands beside its name.
      const isIsolated = `[...document.querySelectorAll('#payload b, #payload code')]
        .every((one) => getComputedStyle(one).unicodeBidi === 'isolate')`
      expect(await browser.evaluate(isIsolated)).toBe(true)
    })

    it('decide nothing by a click that was meant for another window', async () => {
      const row = await open()
      await show(row.id)
      // Of a window that has just come to the front, and of an approval that has just been shown.
      await browser.see(`!document.querySelector('#approve').disabled`)
      const isOff = await browser.evaluate(`(() => {
        window.dispatchEvent(new Event('focus'))
        document.querySelector('#approve').click()
        document.querySelector('#decide').requestSubmit()
        return document.querySelector('#approve').disabled && document.querySelector('#deny').disabled
      })()`)
      expect(isOff).toBe(true)
      await browser.see(`!document.querySelector('#approve').disabled`)
      expect(await service.read(caller, row.id)).toMatchObject({ status: 'pending', decisions: [] })
    })

    it('are asked for at a pace where the service answers at once, and show what their mandate has left', async () => {
      const made = await service.call(caller, '/v1/mandates', {
        method: 'POST',
        json: {
          principal: 'Example GmbH',
          description: 'Repairs of the fleet',
          timezone: 'Europe/Berlin',
          budget: { limit: '500.00', currency: 'EUR', period: 'month' },
          expires_at: new Date(Date.now() + 86_400_000).toISOString(),
        },
      })
      expect(made.json.mandate_id).toBeDefined()
      const row = await open({ mandateId: made.json.mandate_id })
      const { identifier } = await browser.send('Page.addScriptToEvaluateOnNewDocument', {
        source: `const asks = window.fetch
          window.fetch = (url, options) => asks(new URL(String(url).replace('wait=25', 'wait=00'), location.href), options)`,
      })
      await show(row.id)
      const facts = await textOf('#facts')
      for (const part of ['Repairs of the fleet', '500 EUR']) expect(facts).toContain(part)
      const polls = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('wait=00'))`
      await browser.see(`${polls}.length >= 3`)
      const gaps = await browser.evaluate<number[]>(
        `${polls}.map(({ startTime }, n, all) => startTime - (all[n - 1]?.startTime ?? -9999))`,
      )
      expect(Math.min(...gaps)).toBeGreaterThan(1_900)
      await browser.send('Page.removeScriptToEvaluateOnNewDocument', { identifier })
    })

    it('are denied with a reason, and listed while they wait', async () => {
      const row = await open()
      await browser.open(`${root}/approve`)
      await browser.see(`document.querySelector('#waiting a')?.hash === '#${row.id}'`)
      await browser.evaluate(`document.querySelector('#waiting a').click()`)
      await browser.see(`!document.querySelector('#approval').hidden`)
      await press('deny')
      await refuses('Say why')
      expect(await browser.evaluate(`document.activeElement.id`)).toBe('comment')
      await browser.evaluate(`document.querySelector('#comment').value = 'Not ours.'`)
      await press('deny')
      await sees('is denied')
      expect(await service.read(caller, row.id)).toMatchObject({
        status: 'denied',
        decisions: [{ comment: 'Not ours.' }],
      })
      expect(browser.complaints()).toEqual([])
    })

    it('are approved again by the person for whom a key spoke, where votes of keys do not count any more', async () => {
      const row = await open()
      await service.test.owner(
        `INSERT INTO approval_votes (account_id, environment, approval_id, user_id, decision, via, actor_id, key_root_id, decided_at)
         VALUES ($1, 'sandbox', $2, $3, 'approve', 'api_key', 'key_test_desk', 'key_test_desk', now())`,
        [caller.accountId, row.id, userId],
      )
      await service.setPolicy(caller, { approvals: { require_human_session: true } })
      await show(row.id)
      await reads('votes', 'You: approved through an API key')
      expect(await browser.evaluate(`document.querySelector('#decide').hidden`)).toBe(false)
      await press('approve')
      await sees('is approved')
      expect(await service.read(caller, row.id)).toMatchObject({ decisions: [{ by: userId, via: 'session' }] })
    })

    it('are approved with a passkey where the rule demands one, bound to this approval', async () => {
      const [row, other] = [await open({ demands: [{ require_passkey: true }] }), await open()]
      await show(row.id)
      expect(await textOf('#approve')).toBe('Approve with a passkey')
      await press('approve')
      await refuses('No passkey confirmed it')
      expect(await browser.evaluate(`document.querySelector('#needs a').href`)).toBe(`${root}/passkeys`)
      const bare = await service.call(caller, `/v1/approvals/${row.id}`)
      expect(bare.json.status).toBe('pending')

      await browser.open(`${root}/passkeys`)
      await browser.see(`!document.querySelector('#own').hidden`)
      await browser.evaluate(`(() => {
        document.querySelector('#name').value = 'Laptop'
        document.querySelector('#add').requestSubmit()
      })()`)
      await browser.see(`document.querySelector('#passkeys li')`)

      // Without one, and with one that confirmed another approval.
      await show(row.id)
      const answers = await browser.evaluate<string>(`(async () => {
        const { csrf_token } = (await (await fetch('/v1/auth/session')).json()).session
        const headers = { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf_token }
        const post = async (path, sent) => (await fetch(path, { method: 'POST', headers, body: sent && JSON.stringify(sent) })).json()
        const bare = await post('/v1/approvals/${row.id}/approve', {})
        const begun = await post('/v1/approvals/${other.id}/challenge')
        const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(begun.options)
        const credential = await navigator.credentials.get({ publicKey })
        const passkey_assertion = { challenge_id: begun.challenge_id, response: credential.toJSON() }
        const foreign = await post('/v1/approvals/${row.id}/approve', { passkey_assertion })
        return JSON.stringify([bare, foreign].map(({ errors }) => errors?.[0]?.pointer + ' ' + errors?.[0]?.code))
      })()`)
      expect(JSON.parse(answers)).toEqual(['/passkey_assertion required', '/passkey_assertion/challenge_id mismatch'])
      await press('approve')
      await sees('is approved')
      expect(await service.read(caller, row.id)).toMatchObject({ decisions: [{ by: userId, via: 'passkey' }] })
      const [entry] = (await service.entries(caller, 'approval_decision')).filter(({ subject }) => subject === row.id)
      expect(entry?.inputs).toMatchObject({ via: 'passkey', passkey_id: expect.stringMatching(/^psk_/) })
    })

    it('say what the signed-in person can not do, where their session ended, and what came of it', async () => {
      const [row, foreign, late] = [await open(), await open({ demands: [{ roles: ['owner'] }] }), await open()]
      await show(foreign.id)
      await sees('People with the role owner decide; your role is approver.')
      expect(await browser.evaluate(`document.querySelector('#decide').hidden`)).toBe(true)
      await service.expire(late.id)
      await show(late.id)
      await sees('is expired. Not enough people decided in time. The action does not run.')

      // What the page can't know is said beside the buttons, in sight on a phone.
      await browser.show(360, 'light')
      const own = await open({ requesterUserId: userId })
      await show(own.id)
      await press('approve')
      await refuses('duties are separated')
      const isInSight = `(() => {
        const { top, bottom } = document.querySelector('#refusal').getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })()`
      await browser.evaluate(`document.querySelector('#approve').scrollIntoView()`)
      expect(await browser.evaluate(isInSight)).toBe(true)

      await show(row.id)
      expect(await browser.evaluate(`document.querySelector('#refusal').innerText`)).toBe('')
      const cookies = await browser.send('Network.getCookies')
      await browser.send('Network.clearBrowserCookies')
      await press('approve')
      await sees('Sign in')
      expect(await browser.evaluate(`document.querySelector('#signin').hidden`)).toBe(false)
      await browser.send('Network.setCookies', cookies)
      await browser.show(1400, 'light')
    })

    it('can not be approved here when what is shown does not have the hashes of the token', async () => {
      const row = await open({ payload_hash: 'q0s4gqvFzGzJ2cPZVmY2vGkqv5oV8cVxC1f0Jm2xT5g' })
      await show(row.id)
      expect(await textOf('#proof')).toContain('Do not approve it')
      expect(await browser.evaluate(`document.querySelector('#decide').hidden`)).toBe(true)
      await browser.show(360, 'dark')
      expect(await browser.evaluate(`document.documentElement.scrollWidth <= innerWidth`)).toBe(true)
    })
  },
)
