// `/share`: where the link of a share or of a granted disclosure leads, and that of a mailed code. The token is in the fragment, so
// the page is the same for everybody; what it shows comes from the routes of shares, with the token in a header.

import { html } from './html.ts'
import type { DocsPage } from './layout.ts'

export function sharePage(script: string): DocsPage {
  const body = html`<div class="home login share">
<h1>A shared trace</h1>
<noscript><p class="lead">This page needs scripts: the link contains its token where no server sees it.</p></noscript>
<p class="lead" id="message" role="status" aria-live="polite" hidden></p>
<form id="open" hidden>
<p><label for="link">The link of the share</label></p>
<p><input type="text" id="link" name="link" autocomplete="off" spellcheck="false" required> <button type="submit">Open it</button></p>
</form>
<article id="shared" hidden>
<dl id="facts"></dl>
<h2>Canary readings</h2>
<ul id="readings"></ul>
<section id="graph" hidden>
<h2>Attribution graph</h2>
<p id="counts"></p>
<h3>Strongest links</h3>
<ul id="links"></ul>
</section>
</article>
<section id="ask" hidden>
<h2>See what is masked</h2>
<p>The account that shared the trace decides, or has decided that everybody with a verified address may. Each view is recorded.</p>
<form id="request">
<p><label for="email">Your e-mail address</label></p>
<p><input type="email" id="email" name="email" autocomplete="email" maxlength="254" required></p>
<p><label for="purpose">What you need it for</label></p>
<p><textarea id="purpose" name="purpose" maxlength="1000" rows="3" required></textarea></p>
<p><button type="submit">Mail me a code</button></p>
</form>
<form id="verify" hidden>
<p><label for="code">The code of the mail</label></p>
<p><input type="text" id="code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9]{8}" maxlength="8" required> <button type="submit">Send the request</button> <button type="button" id="again">Ask for another code</button></p>
</form>
</section>
</div>
`
  return { path: '/share', title: 'A shared trace', body, isWide: true, scripts: [{ src: script, isModule: true }] }
}
