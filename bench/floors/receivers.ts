// Receivers of webhooks, and no floor: /hang never answers, everything else does at once.

import { serve } from './floor.ts'

serve((req, res) => {
  req.resume()
  if (req.url === '/hang') return
  req.on('end', () => res.writeHead(204).end())
})
