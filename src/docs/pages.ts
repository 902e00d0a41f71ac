// The pages for integrators, made once at boot from the tables that the service itself works by.

import { FAILURES, type FailureCode } from '#src/failure.ts'
import { guidanceOf } from '#src/guidance.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import type { Notes } from '#src/platform/http/openapi.ts'
import { exampleProblem } from '#src/platform/http/openapi-problems.ts'
import type { Assets } from './assets.ts'
import { type Html, html, prose, renderPage } from './html.ts'

/**
 * /docs: the reference. Until the script has drawn it, and where there is none, a table of all operations.
 * Addresses are relative to /docs.
 */
export function renderReference(routes: readonly Route[], { assets, notes }: { assets: Assets; notes: Notes }): string {
  const tags = [...new Set([...notes.tags.map(({ name }) => name), ...routes.map(({ tag }) => tag)])]
  const body = html`<main id="explorer"><div class="page">
<h1>The interface</h1>
<p>With JavaScript this page shows each operation with its shapes and examples, and sends requests with your key. Without
it, here is all there is; <a href="v1/openapi.json">the OpenAPI document</a> has the shapes, for client generators too.</p>
<p>Send a key with each request: <code>Authorization: Bearer &lt;API_KEY&gt;</code>. A key has scopes, and each operation
wants the one that is named.</p>
${tags.map((tag) => tableOf(tag, { routes, notes }))}
</div></main>`
  return renderPage({
    title: 'Countersign: the interface',
    styles: [`docs/assets/${assets.nameOf('swagger-ui.css')}`, `docs/assets/${assets.nameOf('pages.css')}`],
    scripts: [
      { src: `docs/assets/${assets.nameOf('swagger-ui-bundle.js')}` },
      { src: `docs/assets/${assets.nameOf('explorer.js')}`, isModule: true },
    ],
    links: [
      { href: 'docs/integrate', text: 'Guide: a capture app in an hour' },
      { href: 'docs/errors', text: 'Errors' },
      { href: 'v1/openapi.json', text: 'OpenAPI document' },
    ],
    body,
  })
}

/** /docs/errors: where `type` of every problem leads. Addresses are relative to /docs/errors. */
export function renderErrors({ assets, baseUrl }: { assets: Assets; baseUrl: string }): string {
  const codes = (Object.keys(FAILURES) as FailureCode[]).sort((a, b) => FAILURES[a].status - FAILURES[b].status)
  const body = html`<main class="page">
<h1>Errors</h1>
<p>Every answer that is not a success is a problem (RFC 9457, <code>application/problem+json</code>). <code>code</code> is
stable for ever: let your program look at it. <code>detail</code> is for people and may change. <code>errors</code>, where
it is there, names every finding at once. <code>request_id</code> is also the header <code>Request-Id</code>: tell it when
you ask about an answer.</p>
<p>What a capture does wrong is none of these: a bad signature or a missing position is a factor of a result with status 200.</p>
<table>
<thead><tr><th>Code</th><th>Status</th><th>What happened</th></tr></thead>
<tbody>
${codes.map(
  (code) => html`<tr><td class="name"><a href="#${code}"><code>${code}</code></a></td><td>${FAILURES[code].status}</td>
<td>${prose(guidanceOf(code).happened)}</td></tr>\n`,
)}</tbody>
</table>
${codes.map((code) => sectionOf(code, baseUrl))}
</main>`
  return renderPage({
    title: 'Countersign: errors',
    styles: [`assets/${assets.nameOf('pages.css')}`],
    links: [
      { href: '../docs', text: 'The interface' },
      { href: 'integrate', text: 'Guide: a capture app in an hour' },
    ],
    body,
  })
}

function tableOf(tag: string, { routes, notes }: { routes: readonly Route[]; notes: Notes }): Html {
  const rows = routes
    .filter((route) => route.tag === tag)
    .map(
      ({ method, path, summary, scope }) => html`<tr><td class="name"><code>${method} ${path}</code></td>
<td>${summary}</td><td class="name">${scope ?? html`<span class="quiet">no key</span>`}</td></tr>\n`,
    )
  if (rows.length === 0) return html``
  return html`<section><h2>${tag}</h2>
<p>${notes.tags.find(({ name }) => name === tag)?.description ?? ''}</p>
<table><thead><tr><th>Operation</th><th></th><th>Scope</th></tr></thead><tbody>
${rows}</tbody></table></section>
`
}

function sectionOf(code: FailureCode, baseUrl: string): Html {
  const { happened, remedy, repeat } = guidanceOf(code)
  const { status, title } = FAILURES[code]
  const example = JSON.stringify(exampleProblem(code, baseUrl), null, 2)
  return html`<section id="${code}">
<h2><code>${code}</code></h2>
<dl>
<dt>Status</dt><dd>${status} ${title}</dd>
<dt>What happened</dt><dd>${prose(happened)}</dd>
<dt>What to do</dt><dd>${prose(remedy)}</dd>
<dt>Send it again?</dt><dd>${prose(repeat)}</dd>
</dl>
<pre>${example}</pre>
</section>
`
}
