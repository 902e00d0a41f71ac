// A detector of synthetic media that answers at once, so that only our own time is measured. A process of its own: in that
// of the benchmark, a screening of the attacker would delay the timers and answers by which the honest tenant is measured.

import { setPriority } from 'node:os'
import { serve } from '../floors/floor.ts'

// Below the service: a detector runs on a machine of its own.
const NICE = 10
setPriority(NICE)

serve((req, res) => {
  req.resume()
  req.on('end', () =>
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"genai_score":0.1,"deepfake_score":null}'),
  )
})
