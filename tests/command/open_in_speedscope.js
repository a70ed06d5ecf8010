// Opens traces in Speedscope in a headless Chromium: node open_in_speedscope.js CHROMIUM PAGE TRACE.js [PICTURE.png].
// PAGE is Speedscope's index.html. TRACE.js hands the trace to this page. The script prints a JSON object: `said` lists
// what the page wrote to its console, and `saved` is the file that Speedscope's own export makes of the trace.
const puppeteer = require('puppeteer-core');

const [chromium, page_file, trace, picture] = process.argv.slice(2);

async function until(what, seconds) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
    const found = await what();
    if (found) return found;
    await new Promise(done => setTimeout(done, 50));
  }
  return null;
}

async function open(browser) {
  const page = await browser.newPage();
  await page.setViewport({width: 1600, height: 900});
  const said = [];
  page.on('console', message => said.push({kind: message.type(), text: message.text()}));
  page.on('pageerror', error => said.push({kind: 'error', text: error.message}));
  // The export is a download, for which the page makes a URL from a blob. This code keeps the blob.
  await page.evaluateOnNewDocument(() => {
    const make = URL.createObjectURL;
    URL.createObjectURL = blob => {
      window.saved = blob;
      return make.call(URL, blob);
    };
  });
  await page.goto(`file://${page_file}#localProfilePath=${trace}`);
  await until(() => said.some(line => line.text.startsWith('import:')), 60);
  const saved = await until(async () => {
    await page.keyboard.down('Control');
    await page.keyboard.press('s');
    await page.keyboard.up('Control');
    return page.evaluate(async () => window.saved ? await window.saved.text() : null);
  }, 20);
  if (picture) await page.screenshot({path: picture});
  return {said, saved};
}

(async () => {
  const browser = await puppeteer.launch({
    executablePath: chromium,
    // Speedscope draws with WebGL, which a computer without a graphics card has only in software.
    args: ['--no-sandbox', '--allow-file-access-from-files', '--use-gl=angle', '--use-angle=swiftshader',
           '--enable-unsafe-swiftshader']
  });
  try {
    console.log(JSON.stringify(await open(browser)));
  } finally {
    await browser.close();
  }
})();
