// Addresses that mails name, which stand outside of /app. They lead on before the router reads the address: the fragment names
// the object, and is gone afterwards.

const APPROVAL = /^#(apr_(test|live)_[0-9a-z]{26})$/

const { pathname, hash } = window.location
if (pathname === '/approve') {
  const [, id, word] = APPROVAL.exec(hash) ?? []
  const environment = word === 'live' ? 'live' : 'sandbox'
  const path = id === undefined ? 'approvals' : `approvals/${id}`
  window.history.replaceState(null, '', `/app/${environment}/${path}`)
}
if (pathname === '/passkeys') window.history.replaceState(null, '', '/app/sandbox/passkeys')

export {}
