// Draws the API reference from this service's own OpenAPI document. Addresses are relative to this page, so that it
// works under any host name, port and path; the server in the document is the public address.

import { addCopyButton } from './copy.js'

const root = new URL('..', window.location.href)
if (window.matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')

const place = document.getElementById('explorer')

const answer = await fetch(new URL('v1/openapi.json', root))
if (!answer.ok) throw new Error(`the document could not be read: ${answer.status}`)
const spec = await answer.json()
spec.servers = [{ url: root.href.replace(/\/$/, '') }]

window.SwaggerUIBundle({
  spec,
  domNode: place,
  deepLinking: true,
  // Groups are closed at first: drawing all operations takes seconds.
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  defaultModelRendering: 'example',
  displayRequestDuration: true,
  filter: true,
  // The key is kept in this tab only, until it closes.
  persistAuthorization: false,
  queryConfigEnabled: false,
  showMutatedRequest: false,
  validatorUrl: null,
})

// The blocks come and go with the operations that are opened. Swagger UI has a button of its own for some of them only.
new MutationObserver(() => {
  for (const block of place.querySelectorAll('pre:not(.version)')) {
    const around = block.parentElement
    if (around.querySelector(':scope > .copy-to-clipboard') !== null) continue
    around.classList.add('code')
    addCopyButton(around)
  }
}).observe(place, { childList: true, subtree: true })
