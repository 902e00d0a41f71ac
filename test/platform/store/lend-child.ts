// A process that holds a file of the S3 store open until it is killed: arguments are the endpoint and the folder.

import { createS3Store } from '#src/platform/store/s3.ts'

const [endpoint = '', spoolDirectory = ''] = process.argv.slice(2)
const store = createS3Store({
  bucket: 'bucket',
  region: 'us-east-1',
  prefix: '',
  endpoint,
  credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  spoolDirectory,
})
await store.withLocalFile({ accountId: 'acc_one', environment: 'live' }, 'a'.repeat(64), async () => {
  process.send?.('lent')
  await new Promise((done) => setTimeout(done, 600_000))
})
