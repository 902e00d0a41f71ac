// Writes a file to the disk: hashed while it arrives, durable before the answer, named by its hash. No key, no row, no
// inspection of the content.

import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { serve, setting } from './floor.ts'

const root = setting('FLOOR_DIRECTORY')
await mkdir(root, { recursive: true })

serve(async (req, res) => {
  const hash = createHash('sha256')
  const path = join(root, randomUUID())
  const file = await open(path, 'wx')
  for await (const chunk of req) {
    hash.update(chunk)
    await file.write(chunk)
  }
  await file.datasync()
  await file.close()
  const sha256 = hash.digest('hex')
  await rename(path, join(root, sha256))
  const body = JSON.stringify({ sha256 })
  res.writeHead(200, { 'Content-Length': Buffer.byteLength(body) }).end(body)
})
