// `/`: the page at the service's address.

import { highlight } from './highlight.ts'
import { type Html, html } from './html.ts'
import type { DocsPage } from './layout.ts'

const CARDS: readonly { href: string; title: string; text: string }[] = [
  {
    href: 'docs/integrate',
    title: 'Build a capture app in an hour',
    text: 'From a key to a verified webhook, step by step, with code that runs as it stands.',
  },
  {
    href: 'docs/authorize',
    title: 'Guard a tool call in half an hour',
    text: 'An agent may run exactly the action that was authorized, once, within a budget, and where people have approved it.',
  },
  {
    href: 'docs/submit',
    title: 'Submit a folder of captures',
    text: 'A folder or a table of photos in, a table of results out, with one command that can be resumed.',
  },
  {
    href: 'docs/api-reference',
    title: 'API reference',
    text: 'Every operation with its shapes and examples, and a form that sends requests with your key.',
  },
  {
    href: 'docs/errors',
    title: 'Errors',
    text: 'Every code: what happened, what to do, and whether to send the request again.',
  },
  {
    href: 'docs/operate',
    title: 'Operate it',
    text: 'Configuration, scaling, metrics, backups, and what to do when a part fails.',
  },
  {
    href: 'docs',
    title: 'All guides',
    text: 'Hardware evidence, live video, C2PA, cases; mandates, schedules, approvals, the ledger; keys, teams, plans.',
  },
]

const ADDRESSES: readonly { href: string; text: string }[] = [
  { href: 'health', text: 'whether this process answers' },
  { href: 'v1/openapi.json', text: 'the interface as an OpenAPI 3.1 document' },
  { href: '.well-known/jwks.json', text: 'the public keys that verify signed results' },
]

/** @param baseUrl As callers reach the service, for the commands that it shows. */
export function homePage(baseUrl: string): DocsPage {
  const body = html`<div class="home">
<h1>Verify signed captures for insurance claims</h1>
<p class="lead">A capture device signs a photo or a video with its hash, time, place
and owner. Countersign verifies the capture and answers a risk score made of named factors, each with its evidence, in a result
that is itself signed.</p>
<ul class="cards">${CARDS.map(card)}</ul>
<p><a href="login/link">Sign in</a> with your e-mail address. Then: <a href="approve">approvals</a> that wait for you, and
<a href="passkeys">your passkeys</a>.</p>
<h2>The first request</h2>
<p>Keys begin with <code>svc_test_</code> (sandbox) or <code>svc_live_</code>. <code>npm start</code> prints sandbox keys.</p>
<div class="code"><pre tabindex="0"><code>${highlight(`curl '${baseUrl}/v1/claims?limit=5' -H 'Authorization: Bearer svc_test_...'`, 'sh')}</code></pre></div>
<h2>For machines</h2>
<ul>${ADDRESSES.map(({ href, text }) => html`<li><a href="${href}"><code>/${href}</code></a>: ${text}</li>`)}</ul>
</div>
`
  return { path: '/', title: 'Countersign', body, isWide: true }
}

function card({ href, title, text }: { href: string; title: string; text: string }): Html {
  return html`<li><a href="${href}"><strong>${title}</strong><span>${text}</span></a></li>\n`
}
