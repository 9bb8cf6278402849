"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id)?.textContent ?? "{}");
  const specs = read("specs");
  const options = {
    config: read("chart-config"),
    mode: "vega-lite",
    actions: false,
    ast: true,
    defaultStyle: false,
    renderer: "svg",
    tooltip: { id: "hint", disableDefaultStyle: true },
  };

  // A still picture is replaced by its live chart only once that is drawn.
  const enliven = async (figure) => {
    const live = document.createElement("div");
    await vegaEmbed(live, specs[figure.dataset.chart], options);
    figure.replaceChildren(live);
    figure.dataset.live = "yes";
  };
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const seen = new IntersectionObserver((entries) => {
    for (const { target } of entries.filter((entry) => entry.isIntersecting)) {
      seen.unobserve(target);
      enliven(target);
    }
  }, { rootMargin: "600px" });
  figures.forEach((figure) => seen.observe(figure));
  addEventListener("beforeprint", () => {
    figures.filter((figure) => !figure.dataset.live && !figure.querySelector("svg")).forEach(enliven);
    document.querySelectorAll("details").forEach((fold) => { fold.open ||= fold.dataset.print === "open"; });
  });

  // A link to a trial opens the folded table that holds it.
  const unfold = () => {
    const row = location.hash && document.getElementById(location.hash.slice(1));
    const fold = row && row.closest("details");
    if (fold) { fold.open = true; row.scrollIntoView({ block: "center" }); }
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
