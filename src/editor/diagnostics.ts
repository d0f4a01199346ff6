import { isRecord, ownProperty } from '../values';
import { adminRequest, button, html, text } from './red';

const isReport = (body: unknown): body is { versions: object } => isRecord(ownProperty(body, 'versions'));

/**
 * Shows everything that a bug report about an account would hold. The user can copy or download exactly this text. The dialog opens before Node-RED has
 * answered: during a deploy, that takes until its end, when the user may be elsewhere.
 */
export async function showDiagnostics(account: string): Promise<void> {
  const told = html('div', { role: 'status' }, text('strip-account.preview.reading'));
  const action = (name: string, press: () => void) =>
    button('red-ui-button', press, text(`strip-sidebar.diagnostics.${name}`));
  const close = action('close', () => dialog.close());
  const title = html('h3', { id: 'smart-strip-report' }, text('strip-sidebar.diagnostics.title'));
  const attributes = { class: 'smart-strip-diagnostics', 'aria-labelledby': title.id };
  const dialog = html('dialog', attributes, title, told, close);
  dialog.addEventListener('close', () => dialog.remove());
  // Node-RED's own shortcuts would act on the flow behind the dialog.
  dialog.addEventListener('keydown', (event) => event.stopPropagation());
  document.body.append(dialog);
  dialog.showModal();
  const address = `strip-sidebar/diagnostics/${encodeURIComponent(account)}`;
  const report = await adminRequest(address, isReport);
  if ('key' in report) told.textContent = text(report.key);
  else {
    told.textContent = '';
    const json = JSON.stringify(report, null, 2);
    const shown = html('pre', { tabindex: '0' }, json);
    const copyShown = async () => {
      told.textContent = text(`strip-sidebar.diagnostics.${(await copy(shown)) ? 'copied' : 'selected'}`);
    };
    const buttons = [action('copy', () => void copyShown()), action('download', () => download(json)), close];
    dialog.append(html('p', {}, text('strip-sidebar.diagnostics.hint')), shown, ...buttons, told);
    shown.focus();
  }
}

/** Copies the text of an element. If that is not possible, because a page without https has no clipboard, selects the text and returns false. */
async function copy(element: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    getSelection()?.selectAllChildren(element);
    return false;
  }
}

function download(json: string): void {
  const href = `data:application/json,${encodeURIComponent(json)}`;
  html('a', { href, download: 'smart-strip-diagnostics.json' }).click();
}
