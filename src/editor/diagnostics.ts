import { text } from './red';

/** Shows everything that a bug report about an account would hold, to be copied or downloaded as it stands. */
export async function showDiagnostics(account: string): Promise<void> {
  const json = await load(account);
  const dialog = document.createElement('dialog');
  dialog.className = 'smart-strip-diagnostics';
  dialog.setAttribute('aria-label', text('strip-sidebar.diagnostics.title'));
  const hint = document.createElement('p');
  hint.textContent =
    json === null ? text('strip-account.trouble.notDeployed') : text('strip-sidebar.diagnostics.hint');
  const shown = document.createElement('pre');
  shown.tabIndex = 0;
  shown.textContent = json ?? '';
  const told = document.createElement('span');
  told.setAttribute('role', 'status');
  const buttons = document.createElement('div');
  const button = (label: string, press: () => void) => {
    const element = document.createElement('button');
    element.type = 'button';
    element.className = 'red-ui-button';
    element.textContent = label;
    element.addEventListener('click', press);
    buttons.append(element);
  };
  dialog.append(hint);
  if (json !== null) {
    dialog.append(shown);
    button(text('strip-sidebar.diagnostics.copy'), () => {
      void copy(shown).then((copied) => {
        told.textContent = text(
          copied ? 'strip-sidebar.diagnostics.copied' : 'strip-sidebar.diagnostics.selected',
        );
      });
    });
    button(text('strip-sidebar.diagnostics.download'), () => download(json));
  }
  button(text('strip-sidebar.diagnostics.close'), () => dialog.close());
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
  const link = document.createElement('a');
  link.href = address;
  link.download = 'smart-strip-diagnostics.json';
  link.click();
  URL.revokeObjectURL(address);
}

/** `null` where the runtime does not know the account or does not answer. */
function load(account: string): Promise<string | null> {
  return new Promise((resolve) => {
    void $.ajax({
      url: `strip-sidebar/diagnostics/${encodeURIComponent(account)}`,
      dataType: 'json',
      success: (body: unknown) => resolve(JSON.stringify(body, null, 2)),
      error: () => resolve(null),
    });
  });
}
