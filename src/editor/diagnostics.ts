import { adminRequest, button, html, text } from './red';

/** Shows everything that a bug report about an account would hold, to be copied or downloaded as it stands. */
export async function showDiagnostics(account: string): Promise<void> {
  const json = await load(account);
  const dialog = html('dialog', {
    class: 'smart-strip-diagnostics',
    'aria-label': text('strip-sidebar.diagnostics.title'),
  });
  const hint =
    json === null ? text('strip-account.trouble.notDeployed') : text('strip-sidebar.diagnostics.hint');
  const shown = html('pre', { tabindex: '0' }, json ?? '');
  const told = html('span', { role: 'status' });
  const buttons = html('div', {});
  const add = (name: string, press: () => void) =>
    buttons.append(button('red-ui-button', press, text(`strip-sidebar.diagnostics.${name}`)));
  dialog.append(html('p', {}, hint));
  if (json !== null) {
    dialog.append(shown);
    add('copy', () => {
      void copy(shown).then((copied) => {
        told.textContent = text(
          copied ? 'strip-sidebar.diagnostics.copied' : 'strip-sidebar.diagnostics.selected',
        );
      });
    });
    add('download', () => download(json));
  }
  add('close', () => dialog.close());
  buttons.append(told);
  dialog.append(buttons);
  dialog.addEventListener('close', () => dialog.remove());
  // Node-RED's own shortcuts would act on the flow behind the dialog.
  dialog.addEventListener('keydown', (event) => event.stopPropagation());
  document.body.append(dialog);
  dialog.showModal();
}

/** Where a page has no clipboard, because it does not come by https, the text is selected instead. */
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
  const address = URL.createObjectURL(new Blob([json], { type: 'application/json' }));
  html('a', { href: address, download: 'smart-strip-diagnostics.json' }).click();
  URL.revokeObjectURL(address);
}

/** `null` where the runtime does not know the account or does not answer. */
async function load(account: string): Promise<string | null> {
  const { status, body } = await adminRequest(`strip-sidebar/diagnostics/${encodeURIComponent(account)}`);
  return status === 200 ? JSON.stringify(body, null, 2) : null;
}
