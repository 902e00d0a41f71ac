// Receivers of webhooks, not a floor: /hang never answers, every other path does at once.

import { serve } from './floor.ts'

serve((req, res) => {
  req.resume()
  if (req.url === '/hang') return
  req.on('end', () => res.writeHead(204).end())
})
