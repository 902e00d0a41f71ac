// A picture of one colour, 6,000 x 6,000 pixels in 1 KB of AVIF, the largest that is decoded: reading its header takes a
// millisecond, decoding it 1 to 3 s of native work that no time-out of the library stops, and 730 MB. Made once by sharp
// (`avif({ effort: 0, quality: 1 })`), because encoding it takes longer still.

const PICTURE = Buffer.from(
  [
    'AAAAHGZ0eXBhdmlmAAAAAG1pZjFhdmlmbWlhZgAAANZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAAAA',
    'AERAAAEAAQAAAAAA+gABAAAAAAAAAy4AAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABhdjAxAAAAAA5waXRtAAAAAAABAAAAVmlwcnAAAAA4',
    'aXBjbwAAAAxhdjFDgT8CAAAAABRpc3BlAAAAAAAAF3AAABdwAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAAAAEAAQOBAgMAAAM2bWRhdBIA',
    'Cgo/8y7fdvaQENBpMp0GEj/JihO////Fn4EAAODPyir3GX/WAcR3AiLdFFolxSNkGWpA1Z2VtW1YnSJ5j+GpzzOvUSWGuKiGnhAwwtVFH+9Fo0tx',
    'mZ/yEwwG/eA9Xzl6C3KQTiEm1pTP4QtoMsE5Egzm9bjvJCUXCllxae4MpY/rLZxsH6sPhPzBLuyI8U5TxFTWs8LbhGRq/sQULzujquCglSibfajO',
    'u5PnN2MOyYguglS1hKlJPQRodWgvOEQOo452g0nt2nM/gPHV5nAZ1Lpb0PgOfuLsVc9wxwdnxR03un1xOeYJAJyutvHljjqJyWccOtXvDgSmszrs',
    'ovimz8oq9xl/1gHEdwH9vmZoxv61EHv86cDoQfCqblfEUuA0q/72ZmzugFAzUc26UaKQnH9vEGGpRajEHgpccGCfIuf9q3eUF79J6vYUgob5TTZd',
    'EafEMqjumahPCSu+EBR/SX2AlqfLbhDn9OSOjldRx11X/vRbVXjqH64emqengkIbN5AlbaxL8MwrFyOLf2y9bW2AUdutFH9xmzOs+TRqLWbVQZZS',
    'HWDwz8oq9xl/1gHEdk+dQHHFiJeb8JJEUUV0sDvrUKOjGv7KcV149n3zRuQPk03YINRhkvrZ/7ZbF4t/wKDrwQDi+rOdCTwHhQDzwmmgLvV2E1Bn',
    'ZmNwg2Hc5Ki7BWkIyky6c92pEHosDPPGzc//oxmoOobVaHCLEiGKefXt/Vsz9Vs12SfOFpPcBoG4KWiXXkfT9teet4WAoJWqIrsBMCLSY4gjOPOx',
    'L1UOA8nO6ZKhcjoPVxuaeQHnA8jg2y/l+YlNsQFJKFeg2n72mPl20HwnBfpoh1spuhYxwgIXKWrAoFzN2by6d8lEzCPPf7P06d65Q8/KKRLJ93s3',
    'AMYVB0kAA3D4XKTHVN6VED2QLJhPmOPvoOEPlLsvOV0JUCuWp9Cc0QHXC19divMOIf6l2Z06deaQg/pcyE2/GQbH9i6/2FpcKaxL7lgW1kiWbXCS',
    '/J7fA+imX9tW3CrErJv1Uta3xglRK76mIADhKUd5d3iLuMMqSnclHcy8inb5r3RVnKZAQC2Q20w=',
  ].join(''),
  'base64',
)

/** The `number`-th of many files with the same picture: an ignored box at the end makes each unique, of any length. */
export function slowAvif(number: number, bytes = 0): Buffer {
  const box = Buffer.alloc(Math.max(16, bytes - PICTURE.length))
  box.writeUInt32BE(box.length, 0)
  box.write('free', 4, 'latin1')
  box.writeDoubleBE(number, 8)
  return Buffer.concat([PICTURE, box])
}
