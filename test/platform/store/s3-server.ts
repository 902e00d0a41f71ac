// A server that speaks S3, for tests: the one that S3_TEST_STORE names (`s3://bucket/prefix?endpoint=...`, keys from
// the AWS_ variables), else moto where this machine has it (`pip install 'moto[server]'`).

import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { parseStoreAddress } from '#src/platform/store/address.ts'
import type { S3Access } from '#src/platform/store/s3-bucket.ts'
import { until } from '../../support/until.ts'

export interface S3Server {
  access: S3Access
  prefix: string
  close(): Promise<void>
}

/** Why there is no server to test against; undefined when there is one. */
export function whyNoS3Server(): string | undefined {
  if (process.env.S3_TEST_STORE) return undefined
  const found = spawnSync('python3', ['-c', 'import moto.server, flask, flask_cors'], { stdio: 'ignore' }).status === 0
  return found ? undefined : "needs S3_TEST_STORE, or moto: pip install 'moto[server]'"
}

export async function startS3Server(): Promise<S3Server> {
  const named = process.env.S3_TEST_STORE
  return named ? useServer(named) : startMoto()
}

function useServer(named: string): S3Server {
  const address = parseStoreAddress(named)
  if (address.kind !== 's3') throw new Error('S3_TEST_STORE must be an s3 address')
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = process.env
  const { bucket, endpoint, region = 'us-east-1' } = address
  // A folder of its own in a shared bucket.
  const prefix = [address.prefix, `test-${Date.now()}`].filter((part) => part !== '').join('/')
  return {
    access: { bucket, region, endpoint, credentials: { accessKeyId, secretAccessKey } },
    prefix,
    close: async () => {},
  }
}

async function startMoto(): Promise<S3Server> {
  const port = await freePort()
  const child = spawn('python3', ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const endpoint = `http://127.0.0.1:${port}`
  const region = 'us-east-1'
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  const client = new S3Client({ endpoint, forcePathStyle: true, region, credentials, maxAttempts: 1 })
  const bucket = 'countersign-test'
  await until(
    () =>
      client.send(new CreateBucketCommand({ Bucket: bucket })).then(
        () => true,
        () => false,
      ),
    { everyMs: 100 },
  )
  client.destroy()
  return {
    access: { bucket, region, endpoint, credentials },
    prefix: 'some/prefix',
    async close() {
      child.kill('SIGKILL')
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
