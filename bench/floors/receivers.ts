// Receivers of webhooks, not a floor: /hang never answers, every other path does at once. /arrivals returns when each
// delivery arrived since it was asked last.

import { serve } from './floor.ts'

let arrivals: [deliveryId: string, atMs: number][] = []

serve((req, res) => {
  req.resume()
  if (req.url === '/arrivals') {
    res.end(JSON.stringify(arrivals))
    arrivals = []
    return
  }
  const id = req.headers['service-delivery-id']
  if (typeof id === 'string') arrivals.push([id, Date.now()])
  if (req.url === '/hang') return
  req.on('end', () => res.writeHead(204).end())
})
