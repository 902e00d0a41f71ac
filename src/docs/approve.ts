// `/approve`: where people decide about the actions of agents, until there is a dashboard. The id of the approval is in the
// fragment, so the page is the same for everybody; what it shows comes from the routes of approvals, with the session of the
// browser.

import { html } from './html.ts'
import type { DocsPage } from './layout.ts'

export function approvePage(script: string): DocsPage {
  const body = html`<div class="home approve">
<h1>Approvals</h1>
<noscript><p class="lead">This page needs scripts: it computes the hashes of what it shows.</p></noscript>
<p class="lead" id="message" role="status" aria-live="polite" hidden></p>
<p id="signin" hidden><a href="login/link">Sign in</a></p>
<section id="inbox" hidden>
<h2>What waits for a decision</h2>
<ul id="waiting"></ul>
</section>
<article id="approval" hidden>
<h2>The action</h2>
<p class="action" id="description"></p>
<div class="tree" id="payload"></div>
<p id="proof" role="status"></p>
<h2>Who asks, and why you</h2>
<dl id="facts"></dl>
<h2>Decisions</h2>
<ul id="votes"></ul>
<form id="decide" hidden>
<p id="needs" hidden>This rule wants a passkey of yours. <a href="passkeys">Your passkeys</a></p>
<p><label for="comment">Comment (to deny, say why)</label></p>
<p><textarea id="comment" name="comment" maxlength="1000" rows="3"></textarea></p>
<p><button type="submit" id="approve">Approve</button> <button type="button" id="deny">Deny</button></p>
</form>
<p id="refusal" role="alert"></p>
<p><a href="approve">All that waits</a></p>
</article>
</div>
`
  return { path: '/approve', title: 'Approvals', body, isWide: true, scripts: [{ src: script, isModule: true }] }
}
