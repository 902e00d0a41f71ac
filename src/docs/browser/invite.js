// Accepts an invite after a press of the button. The token leaves the address at once: it must not stay in the history.

const root = new URL(document.body.dataset.root ?? './', window.location.href)
const [message, form, signin] = ['message', 'accept', 'signin'].map((id) => document.getElementById(id))
const token = /^#([A-Za-z0-9_-]{43})$/.exec(window.location.hash)?.[1]

if (token === undefined) {
  say('This address is not a whole link. Open the link of the mail again.')
} else {
  window.history.replaceState(null, '', window.location.pathname)
  form.hidden = false
}

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const { ok, body } = await accept()
  if (ok) return end(`You are signed in as ${body.user.email}, ${body.role} of ${body.account.name}.`)
  const isSpent = body.errors?.[0]?.pointer === '/token'
  if (isSpent) return end('This invite does not work any more. Ask for another one.')
  // Without the invite's use: another try may succeed.
  say(body.detail)
  signin.hidden = false
})

function end(text) {
  form.hidden = true
  signin.hidden = false
  say(text)
}

function say(text) {
  message.hidden = false
  message.textContent = text
}

async function accept() {
  try {
    const answer = await fetch(new URL('v1/org/invites/accept', root), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token }),
      credentials: 'same-origin',
    })
    return { ok: answer.ok, body: await answer.json() }
  } catch {
    return { ok: false, body: { detail: 'The service can not be reached. Try again.' } }
  }
}
