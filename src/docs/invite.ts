// `/login/invite`: where the link of an invite's mail leads. Opening it uses nothing up: scanners of mail open links too.
// The token is in the fragment, so the page is the same for everybody.

import { html } from './html.ts'
import type { DocsPage } from './layout.ts'

export function invitePage(script: string): DocsPage {
  const body = html`<div class="home login">
<h1>Accept an invite</h1>
<noscript><p class="lead">This page needs scripts: the link contains what signs you in where no server sees it.</p></noscript>
<p class="lead" id="message" role="status" aria-live="polite" hidden></p>
<form id="accept" hidden>
<p>You become a user of the account that invited you, and this device is signed in.</p>
<p><button type="submit">Accept the invite</button></p>
</form>
<p id="signin" hidden><a href="link">Sign in or out</a></p>
</div>
`
  return {
    path: '/login/invite',
    title: 'Accept an invite',
    body,
    isWide: true,
    scripts: [{ src: script, isModule: true }],
  }
}
