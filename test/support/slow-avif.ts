// A picture of one colour, 8,000 x 8,000 pixels in 1 KB of AVIF: reading its header takes a millisecond, decoding it
// seconds of native work that no time-out of the library stops. Made once by sharp (`avif({ effort: 0, quality: 1 })`),
// because encoding it takes longer still.

const PICTURE = Buffer.from(
  [
    'AAAAHGZ0eXBhdmlmAAAAAG1pZjFhdmlmbWlhZgAAANZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAA',
    'AAAERAAAEAAQAAAAAA+gABAAAAAAAAAxsAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABhdjAxAAAAAA5waXRtAAAAAAABAAAAVmlwcnAA',
    'AAA4aXBjbwAAAAxhdjFDgT8CAAAAABRpc3BlAAAAAAAAH0AAAB9AAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAAAAEAAQOBAgMAAAMjbW',
    'RhdBIACgo/8z5/8/aQENBpMooGEB/kxQnf///iz8CAAGPPyitCebPNSEMbs7ZFuykEgrtPHXm7b21JWYqYYbUB8cgKySOTdan6ca2PVssnfCL8',
    'FHucs8pWiJLu1hKVC2szMwqZA43famqVLBGG6NQZ9OXseVOg90SBYe8L213dmmFOV3RYYs/KK0J5infd8x7VDKkyAcGQU7JkYonJVE39RrpMg7',
    'irpJR0Iwb/OnQsyQGnlEDbbDN2XWsh2tCVtUll4eR7HnlVFAhQ2aqolXRoRfqBJHW+0NCPk/c5tcdZ2jh+a+byi5FK4GHPyitCUU2jhOHWAFY9',
    'yoJYRrntSVU7LhQq3L/FqgjrRDp721Nra7f/y/xizdjLcl3jgBk2V2sF9FzHZe1RQHp5e0HJDs6JUUAwCRerV3fNk5/eKez6GZU/Vk1gjnvdL/',
    '5YTFrPyirmJf+9kEdS9vZz3fRzRBK8x0MgL0MBULraqRXVuiq7IGC5hoPDID8X+s42hGb8KOMFA9Q+DoOkWQWdntLffe+ALcFSr7b6vg9nZLll',
    'urZebmxeeQTDp0MQYc/KK0JRTaOE4dYAVj3KglhGue1JVTsuFCrcv8WqCOtEOnvbU2trt//L/GLN2MtyXeOAGTZXawX0XMdl7VFAenl7QckOzo',
    'lRQDAJF6tXd82Tn94p7PoZlT9WTWCOe90v/lhMWs/KKuYl/72QR1L29nPd9HNEErzHQyAvQwFQutqpFdW6KrsgYLmGg8MgPxf6zjaEZvwo4wUD',
    '1D4Og6RZBZ2e0t9974AtwVKvtvq+D2dkuWW6tl5ubF55BMOnQxBdz8orQlFNo4Th1gBWPcqCWEa57UlVOy4UKty/xaoI60Q6e9tTa2u3/8v8Ys',
    '3Yy3Jd44AZNldrBfRcx2XtUUB6eXtByQ7OiVFAMAkXq1d3zZOf3ins+hmVP1ZNYI573M/KKuYl/72QR1L29nPd9HNEErzHQyAvQwFQutqpFdW6',
    'KrsgYLmGg8MgPxf6zjaEZvwo4wUD1D4Og6RZBZ2e0t9974AtwVKvtvq+D2dkuWW6tl5ubF55CA==',
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
