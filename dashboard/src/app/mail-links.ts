// Addresses that mails name, which stand outside of /app. They lead on before the router reads the address: the fragment names
// the object, and is gone afterwards.

const { pathname, hash } = window.location
// The list that each address leads to, and the type of the ids in its fragment.
const LISTS: Record<string, readonly [path: string, type: string]> = {
  '/approve': ['approvals', 'apr'],
  '/orders': ['orders', 'ord'],
}
const list = LISTS[pathname]
if (list !== undefined) {
  const [path, type] = list
  const [, id, word] = new RegExp(`^#(${type}_(test|live)_[0-9a-z]{26})$`).exec(hash) ?? []
  const environment = word === 'live' ? 'live' : 'sandbox'
  window.history.replaceState(null, '', `/app/${environment}/${id === undefined ? path : `${path}/${id}`}`)
}
if (pathname === '/passkeys') window.history.replaceState(null, '', '/app/sandbox/passkeys')

export {}
