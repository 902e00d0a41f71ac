import type { StoreAddress } from './address.ts'
import type { BlobStore } from './blobs.ts'
import { createDiskStore } from './disk.ts'
import { createS3Store } from './s3.ts'
import type { S3Access } from './s3-bucket.ts'

// The region that servers other than Amazon's accept, although they have none.
const NO_REGION = 'us-east-1'

/** `region` applies to an address that names none. */
export function openStore(
  address: StoreAddress,
  { credentials, region }: { credentials?: S3Access['credentials']; region?: string | undefined } = {},
): BlobStore {
  if (address.kind === 'disk') return createDiskStore({ root: address.root })
  return createS3Store({ ...address, region: address.region ?? region ?? NO_REGION, credentials })
}
