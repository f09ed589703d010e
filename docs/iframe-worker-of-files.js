// A browser starts no worker from a file: the search's worker starts from its text instead.
// tools/docs_pages.py puts the text here. The plugin `offline` looks for "iframe-worker" in the
// name of this file, and would otherwise load a script from the network.
if (location.protocol === "file:") {
  const text = SEARCH_WORKER
  const FromAddress = window.Worker
  window.Worker = function () {
    return new FromAddress(URL.createObjectURL(new Blob([text], {type: "text/javascript"})))
  }
}
