// `/`: the page at the service's address.

import { highlight } from './highlight.ts'
import { type Html, html } from './html.ts'
import type { DocsPage } from './layout.ts'
import { PURPOSE } from './service-notes.ts'

interface Card {
  href: string
  title: string
  text: string
}

const PRODUCTS: readonly Card[] = [
  {
    href: 'docs/attest/integrate',
    title: 'Attest: which claim photos to believe',
    text: 'A device signs what it captures. The answer is a score of named factors, each with its evidence, in a signed result. Build a capture app in an hour.',
  },
  {
    href: 'docs/authorize/authorize',
    title: 'Authorize: exactly what a person allowed',
    text: 'A person authorizes an action of an agent; the tool asks before it runs it. Budgets, schedules and approvals hold. Guard a tool call in half an hour.',
  },
  {
    href: 'docs/trace/trace',
    title: 'Trace: what a model does, and how to stop it',
    text: 'Canary readings beside each completion, a kill switch that withholds it, and what made the model say a token. Run an inference.',
  },
]

const FURTHER: readonly Card[] = [
  { href: 'docs', title: 'All guides', text: 'Attest, Authorize, Trace, accounts and keys, webhooks.' },
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
    href: 'docs/operate/deploy',
    title: 'Operate it',
    text: 'Configuration, scaling, metrics, backups, and what to do when a part fails.',
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
<h1>Countersign</h1>
<p class="lead">${PURPOSE}</p>
<ul class="cards">${PRODUCTS.map(card)}</ul>
<p><a href="app">Open the dashboard</a>, or <a href="login/link">sign in</a> with your e-mail address. Then: <a href="approve">approvals</a>
that wait for you, and <a href="passkeys">your passkeys</a>.</p>
<ul class="cards">${FURTHER.map(card)}</ul>
<h2>The first request</h2>
<p>Keys begin with <code>svc_test_</code> (sandbox) or <code>svc_live_</code>. <code>npm start</code> prints sandbox keys.</p>
<div class="code"><pre tabindex="0"><code>${highlight(`curl '${baseUrl}/v1/claims?limit=5' -H 'Authorization: Bearer svc_test_...'`, 'sh')}</code></pre></div>
<h2>For machines</h2>
<ul>${ADDRESSES.map(({ href, text }) => html`<li><a href="${href}"><code>/${href}</code></a>: ${text}</li>`)}</ul>
</div>
`
  return { path: '/', title: 'Countersign', body, isWide: true }
}

function card({ href, title, text }: Card): Html {
  return html`<li><a href="${href}"><strong>${title}</strong><span>${text}</span></a></li>\n`
}
